"""Forecasts without a network: naive rates, and a linear regression on sums of weeks."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid.dataset import TEST
from pgode.data.files.covid.days import Daily, Days, day_number
from pgode.evaluation.covid.totals import ByProtocol
from pgode.evaluation.covid.windows import PUBLISHED_CONDITIONS, WINDOWS, Window

DEATH_WEEKS, CASE_WEEKS = 3, 4
"""Sums of weeks that the regression sees."""
FIRST_ORIGIN, ORIGIN_STRIDE = 60, 3
"""Days since the first report at which the regression's first window begins, and between two."""
OFFSET = 20.0
"""Residuals are divided by the square root of the total plus this: counts vary like their mean."""
RIDGE = 1e-4
"""Pull towards 0, as a share of the square of each input."""

Forecast = Callable[[Days, Window, int], Float[np.ndarray, " state"]]


def last_value(days: Days, window: Window, horizon: int) -> Float[np.ndarray, " state"]:
    """Every day like the last one observed."""
    return np.asarray(days.daily("deaths")[window.first - 1] * window.days)


def weekly_rate(days: Days, window: Window, horizon: int) -> Float[np.ndarray, " state"]:
    """Every day like the mean of the last seven."""
    return np.asarray(days.daily("deaths")[window.first - 7 : window.first].mean(0) * window.days)


def condition_mean(days: Days, window: Window, horizon: int) -> Float[np.ndarray, " state"]:
    """Every day like the mean of the published condition."""
    condition = PUBLISHED_CONDITIONS[horizon]
    seen = days.daily("deaths")[window.first - condition : window.first]
    return np.asarray(seen.mean(0) * window.days)


def regression(days: Days, window: Window, horizon: int) -> Float[np.ndarray, " state"]:
    """Least squares over states and origins whose windows end before the test days."""
    deaths, confirmed = days.daily("deaths"), days.daily("confirmed")
    last = day_number(TEST) - window.days
    origins = range(FIRST_ORIGIN, last + 1, ORIGIN_STRIDE)
    inputs = np.concatenate([_sums(deaths, confirmed, origin) for origin in origins])
    totals = np.concatenate([deaths[origin : origin + window.days].sum(0) for origin in origins])
    known = np.isfinite(inputs).all(1) & np.isfinite(totals)
    weight = 1 / np.sqrt(totals[known] + OFFSET)
    x, y = inputs[known] * weight[:, None], totals[known] * weight
    size = np.sqrt((x**2).sum(0))
    size = np.where(size > 0, size, 1.0)
    x = x / size
    found = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y) / size
    return np.asarray(_sums(deaths, confirmed, window.first) @ found)


BASELINES: dict[str, tuple[str, Forecast]] = {
    "last-value": ("last value", last_value),
    "weekly-rate": ("last 7-day rate", weekly_rate),
    "condition-mean": ("mean of the condition", condition_mean),
    "week-regression": ("linear regression on weekly sums", regression),
}
"""By name: the label of a table's row, and the forecast of a window's total."""


def baseline_totals(days: Days, forecast: Forecast) -> ByProtocol:
    """The totals of a baseline in all windows of all protocols."""
    return {
        protocol: {
            horizon: np.stack([forecast(days, window, horizon) for window in windows])
            for horizon, windows in by_horizon.items()
        }
        for protocol, by_horizon in WINDOWS.items()
    }


def _sums(deaths: Daily, confirmed: Daily, first: int) -> Float[np.ndarray, "state input"]:
    """The last weekly sums before a day."""
    columns = [
        counts[first - 7 * (week + 1) : first - 7 * week].sum(0)
        for counts, weeks in ((deaths, DEATH_WEEKS), (confirmed, CASE_WEEKS))
        for week in range(weeks)
    ]
    return np.stack(columns, axis=1)
