"""From trajectories to the input of a model: scaled windows, graphs, and operators on them."""
