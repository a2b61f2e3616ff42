"""Scores of sampled forecasts: ranked probability score, interval score, coverage."""

from collections.abc import Callable

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


WIS_RANKS = (0.01, 0.025, *(round(0.05 * k, 2) for k in range(1, 20)), 0.975, 0.99)
"""The 23 quantile levels of forecast hubs."""


def pinball(
    quantile: Float[np.ndarray, "..."], truth: Float[np.ndarray, "..."], rank: float
) -> Float[np.ndarray, "..."]:
    """The loss that a quantile of this rank minimises in the mean."""
    above = truth - quantile
    return np.asarray(np.maximum(rank * above, (rank - 1) * above))


def weighted_interval_score(
    quantile: Callable[[float], Float[np.ndarray, "..."]], truth: Float[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """Mean over 23 quantile levels of twice the pinball loss (Bracher et al., 2021).

    It is an approximation of the CRPS, and the absolute error if all quantiles are equal.
    """
    total = np.zeros_like(truth)
    for rank in WIS_RANKS:
        total += 2 * pinball(quantile(rank), truth, rank)
    return np.asarray(total / len(WIS_RANKS))


def sample_quantile(
    samples: Float[np.ndarray, "sample ..."], rank: float
) -> Float[np.ndarray, "..."]:
    """The quantile of samples at a rank, by the plotting position (k - 1/2) / n."""
    return np.asarray(np.quantile(samples, rank, axis=0, method="hazen"))
