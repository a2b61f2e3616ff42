"""Blocks that more than one model uses."""
