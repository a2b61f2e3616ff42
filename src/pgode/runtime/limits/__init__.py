"""The largest and smallest numbers that settings and options may have, and why."""
