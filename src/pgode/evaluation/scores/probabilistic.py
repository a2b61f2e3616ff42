"""Scores of sampled forecasts: continuous ranked probability score, and coverage of intervals."""

import numpy as np
from jaxtyping import Bool, Float


def crps(
    samples: Float[np.ndarray, "sample ..."], truth: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """Fair CRPS of an ensemble: mean |x - y| - 1/2 mean |x - x'| over pairs of distinct members.

    For one member it is the absolute error.
    """
    count = len(samples)
    distance = np.abs(samples - truth).mean(0)
    if count == 1:
        return np.asarray(distance)
    ranked = np.sort(samples, axis=0)
    weight = (2 * np.arange(1, count + 1) - count - 1).reshape(-1, *[1] * truth.ndim)
    return np.asarray(distance - (weight * ranked).sum(0) / (count * (count - 1)))


def covered(
    ends: tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]], truth: Float[np.ndarray, "..."]
) -> Bool[np.ndarray, "..."]:
    """Whether the truth lies in an interval."""
    low, high = ends
    return (low <= truth) & (truth <= high)


def interval(
    samples: Float[np.ndarray, "sample ..."], level: int
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Lower and upper end of the central interval that holds `level` per cent of the samples.

    Uses the plotting position (k - 1/2) / n, which a stratified ensemble follows without bias.
    """
    tail = (100 - level) / 200
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0, method="hazen")
    return low, high
