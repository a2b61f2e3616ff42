"""Scores of window totals: MAE and RMSE as published, WIS and how much intervals hold."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid.days import Days
from pgode.evaluation.covid.quantiles import around, coverage, weighted_interval_score
from pgode.evaluation.covid.totals import ByProtocol, Totals, true_totals
from pgode.evaluation.covid.windows import WINDOWS
from pgode.evaluation.evaluation import ScoreTable

Spread = Mapping[int, Float[np.ndarray, " level"]]
"""By horizon: quantiles of residuals, see `quantiles`."""


def mean_absolute(forecast: Totals, truth: Totals) -> float:
    """Mean over states, then over windows."""
    return float(np.nanmean(np.nanmean(np.abs(forecast - truth), axis=1)))


def root_mean_square(forecast: Totals, truth: Totals) -> float:
    """Over the states of each window, then the mean over windows."""
    return float(np.mean(np.sqrt(np.nanmean((forecast - truth) ** 2, axis=1))))


def scored(forecasts: ByProtocol, days: Days, spread: Spread | None = None) -> ScoreTable:
    """The scores of totals by protocol and horizon; with a `spread`, those of quantiles too."""
    deaths = days.daily("deaths")
    cells: dict[str, dict[int, dict[str, float | None]]] = {}
    for protocol, by_horizon in forecasts.items():
        for horizon, totals in by_horizon.items():
            truth = true_totals(deaths, WINDOWS[protocol][horizon])
            row: dict[str, float | None] = {
                "mae": mean_absolute(totals, truth),
                "rmse": root_mean_square(totals, truth),
            }
            if spread is not None:
                quantiles = around(totals, spread[horizon])
                row["wis"] = weighted_interval_score(quantiles, truth)
                row["coverage"] = coverage(quantiles, truth, 90)
            cells.setdefault(protocol, {})[horizon] = row
    return ScoreTable(cells)
