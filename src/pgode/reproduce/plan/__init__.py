"""Which trials a table is made of: selection, budgets, settings, results."""
