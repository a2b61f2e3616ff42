"""Reading tables from files, and saying where in a file a value stands."""
