"""Force laws with message prototypes as slow kicks, and when they are needed."""
