"""The tables of the paper, and the runs that fill them again."""
