"""Quantiles of totals, from residuals of earlier forecasts, and their scores.

Quantiles of single days do not add up to those of a window: errors of successive days go together.
So totals have residuals of their own. They are differences of log(1 + total), that is relative
errors, which stay the same when an epidemic grows: within the training days, intervals of 90 % from
one month hold 89 % of the next, and those from differences of square roots 86 %.
"""

import numpy as np
from jaxtyping import Float

from pgode.evaluation.covid.totals import Totals

LEVELS = np.array([0.01, 0.025, *np.arange(1, 20) / 20, 0.975, 0.99]).round(3)
"""The 23 levels of forecast hubs."""

Quantiles = Float[np.ndarray, "level window state"]


def residual_quantiles(forecast: Totals, truth: Totals) -> Float[np.ndarray, " level"]:
    """Quantiles of log(1 + truth) - log(1 + forecast) over windows and states, at all levels."""
    residuals = np.log1p(truth) - np.log1p(np.maximum(forecast, 0.0))
    return np.asarray(np.nanquantile(residuals, LEVELS))


def around(totals: Totals, spread: Float[np.ndarray, " level"]) -> Quantiles:
    """The quantiles of totals that a forecast has with residuals of these quantiles."""
    logarithms = np.log1p(np.maximum(totals, 0.0)) + spread[:, None, None]
    return np.asarray(np.maximum(np.expm1(logarithms), 0.0))


def weighted_interval_score(quantiles: Quantiles, truth: Totals) -> float:
    """WIS: the mean over levels of twice the pinball loss, over states, then over windows."""
    above = truth - quantiles
    level = LEVELS[:, None, None]
    loss = 2 * np.maximum(level * above, (level - 1) * above)
    return float(np.nanmean(np.nanmean(loss.mean(0), axis=1)))


def coverage(quantiles: Quantiles, truth: Totals, percent: int) -> float:
    """Share of the truth within the central interval of this level, in per cent."""
    tail = (100 - percent) / 200
    low, high = (
        quantiles[np.flatnonzero(np.isclose(LEVELS, each))[0]] for each in (tail, 1 - tail)
    )
    known = np.isfinite(truth)
    return float(100 * ((low <= truth) & (truth <= high))[known].mean())
