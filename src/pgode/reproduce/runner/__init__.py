"""Running the trials of a grid, in processes or on Ray."""
