"""Several models on the same windows, and intervals of their differences."""
