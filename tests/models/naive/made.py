"""Single series, for tests of naive models."""

from typing import Any

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models import build_model, model_config


def series(values: np.ndarray, seen: np.ndarray | None = None, **more: Any) -> Trajectories:
    """One object with one feature "a" that is no position."""
    observed = None if seen is None else seen[None, None, :, None]
    return Trajectories.build(
        values[None, None, :, None],
        np.arange(len(values)) * 1.0,
        edges=np.zeros((1, 1, 1)),
        features=("a",),
        observed=observed,
        **more,
    )


def forecast(
    name: str, data: Trajectories, condition: int, horizon: int, **settings: Any
) -> np.ndarray:
    """The forecast of the first window of each system, in data units."""
    normaliser = Normaliser.fit(data)
    model = build_model(name, model_config(name, settings), normaliser)
    batch = next(Windows(data, normaliser, condition, horizon).batches(100))
    return normaliser.raw(model.forecast(batch, batch.target_times).mean.double().numpy())
