"""How far forecasts without any training get, in the data's own units."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.data.checkup.finding import number
from pgode.data.checkup.subject import Subject

WINDOWS = 400
"""Windows that errors are averaged over."""
NUMBERS = 20_000_000
"""Numbers of all windows together, which bounds memory for systems of many objects."""

Window = Float[np.ndarray, "window object frame feature"]


@dataclass(frozen=True)
class NaiveErrors:
    """Root mean squared errors over the first frames of the horizon."""

    horizons: tuple[int, ...]
    variables: tuple[str, ...]
    units: tuple[str, ...]
    windows: int
    split: str
    errors: dict[str, Float[np.ndarray, "horizon variable"]]
    """By model; NaN where nothing is known of a variable."""

    def best(self, variable: int, horizon: int = -1) -> str:
        """The model with the lowest error of a variable; empty if there is none."""
        known = {
            name: float(errors[horizon, variable])
            for name, errors in self.errors.items()
            if np.isfinite(errors[horizon, variable])
        }
        return min(known, key=lambda name: known[name]) if known else ""

    def to_beat(self) -> list[str]:
        """For each variable, the error that a forecast over the whole horizon has to beat."""
        lines = []
        for v, (variable, unit) in enumerate(zip(self.variables, self.units, strict=True)):
            model = self.best(v)
            if model:
                error = f"{number(self.errors[model][-1, v])} {unit}".strip()
                lines.append(f"{error} for {variable} ({model})")
        return lines

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, None where an error is not known."""
        return {
            "split": self.split,
            "windows": self.windows,
            "horizons": list(self.horizons),
            "rmse": {
                model: {
                    variable: [_plain(value) for value in errors[:, v]]
                    for v, variable in enumerate(self.variables)
                }
                for model, errors in self.errors.items()
            },
            "best": {name: self.best(v) or None for v, name in enumerate(self.variables)},
        }


def naive_errors(subject: Subject) -> NaiveErrors | None:
    """Errors of the naive models on held-out windows; None if no window fits into the data."""
    split, systems = _held_out(subject)
    length = subject.condition + subject.horizon
    room = np.maximum(subject.frames[systems] - length, -1)
    counts = (room + 1 + subject.horizon - 1) // subject.horizon
    owner = np.repeat(np.arange(len(systems)), counts)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    if not len(owner):
        return None
    numbers = subject.data.objects * length * len(subject.features)
    most = max(1, min(WINDOWS, NUMBERS // numbers))
    chosen = np.unique(np.linspace(0, len(owner) - 1, min(most, len(owner))).astype(int))
    rows, starts = systems[owner[chosen]], place[chosen] * subject.horizon
    frames = starts[:, None] + np.arange(length)
    states = subject.states[rows[:, None], :, frames].transpose(0, 2, 1, 3)
    times = subject.times[rows[:, None], frames]
    horizons = tuple(sorted({max(1, subject.horizon * part // 3) for part in (1, 2, 3)}))
    variables = subject.data.variables
    units = subject.data.dataset["feature_units"].values
    errors = {
        name: _errors(forecast - states[:, :, subject.condition :], horizons, variables)
        for name, forecast in _forecasts(subject, states, times).items()
    }
    last = errors["last value"]
    kept = {
        name: each
        for name, each in errors.items()
        if name == "last value" or not np.array_equal(each, last, equal_nan=True)
    }
    return NaiveErrors(
        horizons,
        tuple(variables),
        tuple(str(units[members[0]]) for members in variables.values()),
        len(rows),
        split,
        kept,
    )


def _held_out(subject: Subject) -> tuple[str, np.ndarray]:
    """The systems to score on: those of the test split if there are any."""
    splits = dict(subject.splits())
    for name in ("test", "val", "train", "ood"):
        if name in splits:
            return name, splits[name]
    raise AssertionError("a system is in one of the splits")


def _forecasts(
    subject: Subject, states: Window, times: Float[np.ndarray, "window frame"]
) -> dict[str, Window]:
    """The forecasts of each naive model of the frames after the condition."""
    past = states[:, :, : subject.condition]
    known = np.isfinite(past)
    last, when = _last(past, known, times)
    seen = known.sum(axis=2)
    mean = np.where(known, past, 0.0).sum(axis=2) / np.where(seen, seen, np.nan)
    ahead = times[:, None, subject.condition :, None] - when[:, :, None]
    still = np.broadcast_to(last[:, :, None], states[:, :, subject.condition :].shape)
    moved = still.copy()
    if subject.positions:
        j = list(subject.positions)
        moved[..., j] += (_rate(subject, past, known, times) * ahead)[..., j]
    found: dict[str, Window] = {"last value": still, "constant velocity": moved}
    found["mean of the condition"] = np.broadcast_to(mean[:, :, None], still.shape)
    if subject.period and subject.period <= subject.condition:
        back = np.arange(subject.horizon) % subject.period - subject.period
        found[f"{subject.period} frames before"] = past[:, :, subject.condition + back]
    return found


def _last(
    past: Window, known: np.ndarray, times: Float[np.ndarray, "window frame"]
) -> tuple[np.ndarray, np.ndarray]:
    """The last known value of each series and its time; NaN where there is none."""
    frame = past.shape[2] - 1 - np.argmax(known[:, :, ::-1], axis=2)
    value = np.take_along_axis(past, frame[:, :, None], axis=2)[:, :, 0]
    when = np.take_along_axis(times[:, :, None], frame.reshape(len(frame), -1, 1), axis=1)
    return value, when.reshape(frame.shape)


def _rate(
    subject: Subject, past: Window, known: np.ndarray, times: Float[np.ndarray, "window frame"]
) -> Float[np.ndarray, "window object 1 feature"]:
    """The last velocity where the data have velocities, else the slope of the last two values."""
    last, when = _last(past, known, times)
    rate = np.zeros_like(last)
    if len(subject.velocities) == len(subject.positions):
        rate[..., list(subject.positions)] = last[..., list(subject.velocities)]
        return rate[:, :, None]
    frame = np.arange(past.shape[2])[:, None]
    newest = past.shape[2] - 1 - np.argmax(known[:, :, ::-1], axis=2)
    earlier = known & (frame < newest[:, :, None])
    before, then = _last(past, earlier, times)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = (last - before) / (when - then)
    return np.where(earlier.any(axis=2) & np.isfinite(slope), slope, 0.0)[:, :, None]


def _errors(
    difference: Window, horizons: tuple[int, ...], variables: dict[str, np.ndarray]
) -> Float[np.ndarray, "horizon variable"]:
    squared = np.square(difference)
    known = np.isfinite(squared)
    total = np.where(known, squared, 0.0).sum(axis=(0, 1))
    count = known.sum(axis=(0, 1))
    result = np.full((len(horizons), len(variables)), np.nan)
    for v, members in enumerate(variables.values()):
        for h, horizon in enumerate(horizons):
            n = count[:horizon, members].sum()
            if n:
                result[h, v] = np.sqrt(total[:horizon, members].sum() / n)
    return result


def _plain(value: float) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None
