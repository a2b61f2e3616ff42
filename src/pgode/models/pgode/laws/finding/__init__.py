"""Laws, prototypes and steps, found in training data before the first epoch."""
