"""Observed systems: one labelled and validated dataset, its sources and its file formats."""
