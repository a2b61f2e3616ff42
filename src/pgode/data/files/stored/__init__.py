"""Stored hashes of data and forecasts: files that are read back, and their check."""
