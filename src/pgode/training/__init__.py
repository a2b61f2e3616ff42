"""Training: the loop, its settings, checkpoints, progress and signals."""

from pgode.training.config import RunConfig, TrainingConfig, WindowConfig
from pgode.training.loop import Trainer

__all__ = ["RunConfig", "Trainer", "TrainingConfig", "WindowConfig"]
