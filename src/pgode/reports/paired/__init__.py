"""The comparison of several runs: a table for the terminal, and a page."""
