"""Training a run by several processes: who takes part, and on what."""
