"""Checks of data files before they are read: where they lead, and how much they claim to hold."""
