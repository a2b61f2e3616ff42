"""Models that PGODE is compared with: one file or folder each."""
