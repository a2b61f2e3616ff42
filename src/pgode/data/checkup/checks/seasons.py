"""Seasons: a weekly or daily rhythm in the data."""

import numpy as np

from pgode.data.checkup.finding import Finding
from pgode.data.checkup.subject import Subject
from pgode.data.labels.calendar import SECONDS
from pgode.data.trajectories import Trajectories

PERIODS = {86400.0: 7, 3600.0: 24}
"""Frames of the season to expect, by the seconds of a time step."""
RHYTHM = 0.3
"""Least correlation of changes one season apart."""
SERIES = 500
"""Series that the correlation is taken over."""


def season(data: Trajectories) -> int:
    """The frames of a weekly or daily rhythm that shows in the data; 0 if none does.

    Looked for only where a step is a day or an hour: an oscillation that happens to have such a
    period is no season.
    """
    period = _expected(data)
    if not period or data.frames < 4 * period:
        return 0
    series = data.states.transpose(0, 1, 3, 2).reshape(-1, data.frames)
    series = series[np.isfinite(series).sum(axis=1) >= 3 * period]
    if not len(series):
        return 0
    series = series[:: max(1, len(series) // SERIES)]
    moved = _detrended(series, period)
    at, *around = (_correlation(moved, lag) for lag in (period, period - 1, period + 1))
    return period if at > RHYTHM and at > max(around) + 0.1 else 0


def rhythm(subject: Subject) -> list[Finding]:
    """A rhythm that the data have."""
    if not subject.period:
        return []
    word, known = ("weekly", "weekday") if subject.period == 7 else ("daily", "hour")
    told = any(name.startswith(f"{known}=") for name in subject.data.input_names)
    return [
        Finding(
            "note",
            "season",
            f"a {word} rhythm shows: changes repeat after {subject.period} frames.",
            f"Observe at least two seasons (a condition of {2 * subject.period})"
            + (
                "."
                if told
                else f", and let models know the {known}: --known {known} (pgode import table)."
            ),
        )
    ]


def _expected(data: Trajectories) -> int:
    steps = np.diff(data.times, axis=1)
    known = steps[np.isfinite(steps)]
    if not known.size or data.time_units not in SECONDS:
        return 0
    seconds = float(np.median(known)) * SECONDS[data.time_units]
    return next((frames for step, frames in PERIODS.items() if abs(seconds / step - 1) < 0.01), 0)


def _detrended(series: np.ndarray, period: int) -> np.ndarray:
    """Changes of the logarithm of each series, less their mean over the season around them."""
    moved = np.diff(np.sign(series) * np.log1p(np.abs(series)), axis=1)
    around = np.lib.stride_tricks.sliding_window_view(moved, period, axis=1).mean(axis=2)
    first = period // 2
    return np.asarray(moved[:, first : first + around.shape[1]] - around)


def _correlation(moved: np.ndarray, lag: int) -> float:
    """The median over series of the correlation of changes `lag` frames apart."""
    known = np.isfinite(moved[:, lag:]) & np.isfinite(moved[:, :-lag])
    first, second = np.where(known, moved[:, lag:], 0.0), np.where(known, moved[:, :-lag], 0.0)
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = (first * second).sum(axis=1) / size
    correlation = correlation[np.isfinite(correlation)]
    return float(np.median(correlation)) if correlation.size else 0.0
