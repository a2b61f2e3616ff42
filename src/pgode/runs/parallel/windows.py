"""The windows that a run is trained and validated on."""

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.training.config import RunConfig


def training_windows(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> Windows:
    """Those of the training split."""
    return _windows(data.split_of("train"), normaliser, config)


def held_out_windows(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> Windows:
    """Those to validate on."""
    return _windows(held_out(data), normaliser, config)


def held_out(data: Trajectories) -> Trajectories:
    """The systems to validate on: the training systems if there are no others."""
    return data.split_of("val" if (data.split == "val").any() else "train")


def _windows(data: Trajectories, normaliser: Normaliser, config: RunConfig) -> Windows:
    return Windows(data, normaliser, config.window.condition, config.window.horizon)
