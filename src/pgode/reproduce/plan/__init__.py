"""Which trials a table is made of: data sets, budgets, settings."""
