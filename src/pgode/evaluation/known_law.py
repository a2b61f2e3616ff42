"""The error of the known law, which a model of simulated data can at best come near."""

import numpy as np

from pgode.batches.windows import Windows
from pgode.data.simulate.known_law import forecast_by_law
from pgode.evaluation.predictions import Predictions


def predict_by_law(windows: Windows, like: Predictions) -> Predictions | None:
    """Forecasts of the same windows as `like` by the law that simulated the data.

    They start from the observed frames in single precision, which is what a model sees. None where
    the law is not known, or a system has other frames than the simulator would make.
    """
    data, normaliser = windows.data, windows.normaliser
    if not like.known.all():
        return None
    condition = data.states[:, :, : windows.condition]
    seen = normaliser.raw(normaliser.states(condition).astype(np.float32))
    states = forecast_by_law(data, seen, like.frames)
    if states is None:
        return None
    mean = normaliser.states(states).reshape(like.mean.shape)
    return Predictions(
        mean=mean,
        draws=np.empty((0, *mean.shape)),
        truth=like.truth,
        known=like.known,
        times=like.times,
        system=like.system,
        contexts={},
        evaluations=0,
        seconds=0.0,
    )
