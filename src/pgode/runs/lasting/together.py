"""How many systems are forecast at once, and the memory that their states take meanwhile."""

import numpy as np

from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import BATCH
from pgode.models.forecaster import Forecaster
from pgode.runtime.memory import refuse_beyond_memory

LONG = 1000
"""Frames from which forecasts are long: fewer systems at once, so that memory stays the same."""
ROWS = 400_000
"""Objects times frames that a long forecast computes at once: 200 MB of states 128 wide."""
COPIES = 2
"""How often the states of all frames are held, at least: one by one, and joined."""


def systems_at_once(model: Forecaster, observed: Trajectories, frames: int) -> int:
    """Systems of a batch; an error if the states of one alone do not fit into memory.

    It depends on nothing but the data and the frames, so that a seed gives the same samples on
    every machine.
    """
    if frames <= LONG:
        return BATCH
    objects = int(observed.n_objects.max(initial=1))
    refuse_beyond_memory(
        COPIES * frames * objects * row_bytes(model),
        f"the states of one system of {objects} objects over {frames} frames",
        "Forecast fewer frames (--until), or a few far ones (--times).",
    )
    return int(np.clip(ROWS // (objects * frames), 1, BATCH))


def row_bytes(model: Forecaster) -> float:
    """Bytes of the state of one object at one frame: latent, or that of each run of an ensemble."""
    config = model.config
    ensemble = getattr(getattr(config, "dynamics", None), "ensemble", None)
    if ensemble is not None:
        return 8.0 * int(ensemble) * len(model.normaliser.features)
    return 4.0 * max(int(getattr(config, "width", 1)), len(model.normaliser.features))
