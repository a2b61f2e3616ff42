"""The splits of a data set."""

SPLITS = ("train", "val", "test", "ood")
"""Training, validation, test in distribution and test out of distribution.

The order is part of the random streams of simulated data, so it never changes.
"""
