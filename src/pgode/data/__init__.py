"""Observed systems: one labelled dataset, where it comes from and what is checked about it."""
