"""Data that stay in their file because they are larger than a share of memory."""
