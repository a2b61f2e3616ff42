"""The data sets of the tables: how they are made, and how models are compared on them."""
