"""The graph of a table: from a rule, or from a file."""
