"""One trial: its plan and result on disk, its training with pruning, and its process."""
