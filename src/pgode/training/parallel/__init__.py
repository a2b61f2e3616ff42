"""Training by several processes: each takes a share of every batch."""
