"""Batches that several processes share: which part each has, and sums over all parts."""
