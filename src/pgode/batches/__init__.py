"""From trajectories to what a model sees: scaled windows, graphs, and the operators on them."""
