"""The page of `pgode robustness`."""
