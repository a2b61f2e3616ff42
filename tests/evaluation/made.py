"""Forecasts made by hand, for tests of scores."""

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.evaluation import Predictions


def normaliser(features: tuple[str, ...] = ("qx", "qy", "m")) -> Normaliser:
    """Variables q (qx, qy) and m; scaled values are twice as small as raw ones, shifted by 1."""
    count = len(features)
    variables = tuple("q" if name.startswith("q") else name for name in features)
    return Normaliser(
        features=features,
        roles=("value",) * count,
        variables=variables,
        units=("",) * count,
        centre=(1.0,) * count,
        scale=(2.0,) * count,
        frame_duration=0.5,
        time_units="",
        edge_attributes=("weight",),
        parameters=(),
        parameter_mean=(),
        parameter_scale=(),
    )


def predictions(
    mean: np.ndarray,
    truth: np.ndarray,
    *,
    known: np.ndarray | None = None,
    system: np.ndarray | None = None,
    draws: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> Predictions:
    """Forecasts (object, frame, feature) of frames 1, 2, ...; by default all of one system."""
    objects, frames, _ = mean.shape
    clock = np.broadcast_to(np.arange(1.0, frames + 1), (objects, frames))
    return Predictions(
        mean=mean,
        draws=np.empty((0, *mean.shape)) if draws is None else draws,
        truth=truth,
        known=np.ones(mean.shape, bool) if known is None else known,
        times=clock if times is None else times,
        system=np.zeros(objects, np.int64) if system is None else system,
        contexts={},
        evaluations=0,
        seconds=0.0,
    )


ERRORS = np.array([[[1.0, 2.0, 0.0], [3.0, 0.0, 1.0]], [[0.0, 1.0, 2.0], [2.0, 4.0, 3.0]]])
"""Of two objects at two frames: features qx, qy, m."""


def small_errors(known: np.ndarray | None = None, system: np.ndarray | None = None) -> Predictions:
    """Forecasts with the errors `ERRORS`."""
    truth = np.random.default_rng(0).normal(size=ERRORS.shape)
    return predictions(truth + ERRORS, truth, known=known, system=system)
