"""Comparison of an exported forecast with the model's own, on windows of real data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models.forecaster import Forecaster
from pgode.runs.export.arrays import Arrays, observed_arrays
from pgode.runs.export.signature import Signature
from pgode.runtime.errors import InputError

TOLERANCE = 1e-5
"""Largest difference that counts as equal, see `difference`."""
TOGETHER = 4
"""Systems that are forecast in one batch."""

Function = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Window:
    """Arrays for an exported forecast, and the model's own forecast of them in data units."""

    arrays: Arrays
    expected: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """How far an exported forecast is from the model's own, and on what it was compared."""

    difference: float
    systems: int
    objects: tuple[int, int]
    """Of the smallest and the largest of these systems."""


def windows_of(model: Forecaster, data: Trajectories, signature: Signature) -> list[Window]:
    """Systems of different sizes in one batch, and the smallest of them alone."""
    chosen = compared(data, signature.condition)
    return [_window(model, data.select(part), signature) for part in (chosen, chosen[:1])]


def compare(
    function: Function, windows: list[Window], model: Forecaster, source: str
) -> Comparison:
    """Run the exported forecast on all windows; an error if it differs by more than rounding."""
    largest = 0.0
    for window in windows:
        found = function(window.arrays)
        largest = max(largest, difference(model, found, window.expected))
    counts = np.bincount(windows[0].arrays["system"])
    if not largest <= TOLERANCE:
        raise InputError(
            f"the exported forecast of {source} differs from the model's own by {largest:.1e} of "
            f"the scale of the data, on {len(counts)} systems. Expected at most {TOLERANCE:g}. "
            f"Nothing was written. Small errors grow in forecasts that diverge: export fewer "
            f"frames (--until), or use pgode forecast."
        )
    return Comparison(largest, len(counts), (int(counts.min()), int(counts.max())))


def difference(model: Forecaster, found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of two forecasts, relative to the scale of the data.

    Values are compared as the model sees them: a unit is half the range of the variable in the
    training data (after its transform). Beyond that range the difference is relative to the value.
    NaN where one of them is not a number and the other is.
    """
    if found.shape != expected.shape:
        return float("nan")
    ours, theirs = (model.normaliser.states(each) for each in (expected, found))
    same = np.isnan(ours) & np.isnan(theirs)
    gap = np.where(same, 0.0, np.abs(ours - theirs)) / np.maximum(1.0, np.abs(ours))
    return float(np.max(np.where(same, 0.0, gap), initial=0.0))


def compared(data: Trajectories, condition: int) -> np.ndarray:
    """Some systems with enough frames, from the smallest to the largest."""
    long = np.flatnonzero(data.n_frames >= condition)
    if not len(long):
        raise InputError(
            f"no system of the data has {condition} frames, the condition of the export. Expected "
            f"at least one, to compare forecasts on. Give other data (--data), or a shorter "
            f"--condition."
        )
    by_size = long[np.argsort(data.n_objects[long], kind="stable")]
    places = np.linspace(0, len(by_size) - 1, min(TOGETHER, len(by_size)))
    return by_size[places.round().astype(np.int64)]


def _window(model: Forecaster, data: Trajectories, signature: Signature) -> Window:
    systems, condition = np.arange(data.systems), signature.condition
    windows = Windows(data, model.normaliser, condition, signature.until)
    batch = windows.batch(systems, np.zeros_like(systems))
    ahead = torch.arange(1, signature.until + 1, dtype=batch.times.dtype)
    times = ahead.expand(data.systems, -1)
    # As in a forecast of the future: inputs are known at whole frames.
    batch = replace(batch, input_times=torch.cat([batch.times, times], 1))
    with torch.no_grad():
        mean = model.forecast(batch, times).mean
    arrays = observed_arrays(data, systems.tolist(), signature)
    return Window(arrays, model.normaliser.raw(mean.double().numpy()))
