"""Deaths of a window in all: of the truth, and of a forecast of increments or of their means."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.batches.origins import Origins
from pgode.batches.windows import Windows
from pgode.data.files.covid.days import Daily, Days
from pgode.data.trajectories import Trajectories
from pgode.evaluation.covid.windows import HORIZONS, WINDOWS, Window
from pgode.evaluation.predictions import predict
from pgode.models.forecaster import Forecaster

Totals = Float[np.ndarray, "window state"]
ByHorizon = Mapping[int, Totals]
ByProtocol = Mapping[str, ByHorizon]


def true_totals(deaths: Daily, windows: tuple[Window, ...]) -> Totals:
    """Deaths of every state in each window; NaN where a day is unknown."""
    return np.stack([deaths[each.first : each.first + each.days].sum(0) for each in windows])


def forecast_total(
    means: Float[np.ndarray, "state frame"], average: int, deaths: Daily, window: Window
) -> Float[np.ndarray, " state"]:
    """Deaths of a window from the forecast of its days, which are means over `average` days.

    Means over blocks of days that end with the window add up to the window's total and the last
    days before it, which are known and subtracted.
    """
    blocks = -(-window.days // average)
    ends = window.days - 1 - average * np.arange(blocks)
    total = average * np.maximum(means[:, ends], 0.0).sum(1)
    before = blocks * average - window.days
    return np.asarray(np.maximum(total - deaths[window.first - before : window.first].sum(0), 0.0))


def forecast_means(
    model: Forecaster,
    data: Trajectories,
    normaliser: Normaliser,
    condition: int,
    windows: tuple[Window, ...],
) -> Float[np.ndarray, "window state frame"]:
    """The forecast of deaths for each day of windows in one system of the data."""
    longest = max(window.days for window in windows)
    cut = Windows(data, normaliser, condition, longest)
    first = int(data.times[0, 0])
    starts = np.array([window.first - condition - first for window in windows])
    found = predict(model, cut, origins=Origins(np.zeros(len(windows), np.int64), starts))
    values = normaliser.raw(found.mean)[..., normaliser.features.index("deaths")]
    return np.asarray(values.reshape(len(windows), data.objects, longest))


def forecast_totals(
    model: Forecaster,
    data: Trajectories,
    normaliser: Normaliser,
    days: Days,
    condition: int,
    average: int,
) -> ByProtocol:
    """A model's totals in all windows of all protocols, from the test days of a data set."""
    test = data.split_of("test")
    deaths = days.daily("deaths")

    def totals(windows: tuple[Window, ...]) -> Totals:
        means = forecast_means(model, test, normaliser, condition, windows)
        pairs = zip(means, windows, strict=True)
        return np.stack([forecast_total(each, average, deaths, window) for each, window in pairs])

    return {
        protocol: {horizon: totals(windows) for horizon, windows in by_horizon.items()}
        for protocol, by_horizon in WINDOWS.items()
    }


def validation_totals(
    model: Forecaster, data: Trajectories, normaliser: Normaliser, days: Days, average: int
) -> tuple[ByHorizon, ByHorizon]:
    """(forecast, truth) of the validation windows, at all horizons."""
    held_out, deaths = data.split_of("val"), days.daily("deaths")
    condition = int(held_out.n_frames[0]) - max(HORIZONS)
    forecasts: dict[int, list[np.ndarray]] = {horizon: [] for horizon in HORIZONS}
    truths: dict[int, list[np.ndarray]] = {horizon: [] for horizon in HORIZONS}
    for system in range(held_out.systems):
        one = held_out.select([system])
        first = int(one.times[0, 0]) + condition
        longest = Window(first, max(HORIZONS))
        means = forecast_means(model, one, normaliser, condition, (longest,))[0]
        for horizon in HORIZONS:
            window = Window(first, horizon)
            forecasts[horizon].append(forecast_total(means, average, deaths, window))
            truths[horizon].append(true_totals(deaths, (window,))[0])
    return (
        {horizon: np.stack(values) for horizon, values in forecasts.items()},
        {horizon: np.stack(values) for horizon, values in truths.items()},
    )
