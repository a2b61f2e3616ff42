"""The tables, sentences and page of `pgode robustness`."""
