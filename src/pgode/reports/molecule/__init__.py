"""Molecules in a report: deviation from the truth, and a player in three dimensions."""
