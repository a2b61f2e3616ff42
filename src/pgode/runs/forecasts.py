"""Forecasts of observed systems beyond their last frame, and their file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
import xarray as xr
from jaxtyping import Bool, Float, Int

from pgode.batches.windows import Batch, Windows
from pgode.data.files import netcdf
from pgode.data.files.stored import forecast_file
from pgode.data.files.table import recipe_of
from pgode.data.trajectories import Trajectories
from pgode.evaluation.scores.probabilistic import interval
from pgode.evaluation.uncertainty.calibration import Calibration, draws_for
from pgode.models.forecaster import Forecaster
from pgode.models.pgode.laws.trust import GROWTH
from pgode.ode.lasting import lasting_solves
from pgode.runs.exchange import forecast_tables
from pgode.runs.lasting.endings import FAR, Endings, sentences
from pgode.runs.lasting.together import systems_at_once
from pgode.runtime.allocation import freed_memory_kept, give_back_if_scarce
from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory
from pgode.runtime.outputs import claim_output

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 90
"""Per cent of the true values that an interval is to hold."""
SAMPLES = 20
"""Sampled forecasts from which an interval comes if nobody asks for another number."""
HELD = 10.0
"""Bytes at the peak for each value of the mean, of the ends of intervals and of samples, at least:
`python -m benchmarks.memory_needs` compares."""
LISTED = 5
"""Systems that a sentence lists."""


@dataclass(frozen=True)
class Forecasts:
    """Mean forecast, samples and 90 % interval in the data's units, labelled like the data.

    `dataset` has mean, lower, upper (system, object, time, feature), samples (sample, system,
    object, time, feature), times (system, time), present and seen (system, object: whether it was
    observed during the condition), what the model inferred (gate weights, contexts), and the
    topology of the observed data where it has one. Models of force laws add how close
    objects come (system_nearest), the time after the last frame up to which an error of the start
    does not grow too much (system_trusted), and the two objects that end it (untrusted_pair).
    """

    dataset: xr.Dataset

    @property
    def mean(self) -> Float[np.ndarray, "system object time feature"]:
        """The mean forecast."""
        return np.asarray(self.dataset["mean"].values)

    @property
    def samples(self) -> Float[np.ndarray, "sample system object time feature"]:
        """Sampled forecasts; the first dimension is empty if there are none."""
        if "samples" not in self.dataset:
            return np.empty((0, *self.mean.shape))
        return np.asarray(self.dataset["samples"].values)

    def trust(self) -> str:
        """How many systems can be trusted to the end, and how long the others; empty if unknown."""
        if "system_trusted" not in self.dataset:
            return ""
        until = self.dataset["system_trusted"].values[:, 0]
        pairs = [np.flatnonzero(row == 1) for row in self.dataset["untrusted_pair"].values[..., 0]]
        ended = sorted((k for k, pair in enumerate(pairs) if len(pair)), key=lambda k: until[k])
        text = f"{len(pairs) - len(ended)} of {len(pairs)} systems can be trusted to the end"
        if not ended:
            return text
        units = self.dataset["times"].attrs["units"]
        listed = ", ".join(
            f"{self._system(k)} until {until[k]:.3g} ({self._pair(k, pairs[k])})"
            for k in ended[:LISTED]
        )
        more = f", and {len(ended) - LISTED} more" if len(ended) > LISTED else ""
        return (
            f"{text}; an error of the start grows {GROWTH:g}-fold in the others, in time after the "
            f"last frame{f' in {units}' if units else ''}: {listed}{more}"
        )

    def endings(self) -> list[str]:
        """When systems stop being finite, or leave the range of the training data, in words.

        `dataset` then has system_finite or system_near: the last time, after the last frame, up to
        which it has not happened.
        """
        return sentences(self.dataset, self._system)

    def _system(self, system: int) -> str:
        named = "system_name" in self.dataset
        return (str(self.dataset["system_name"].values[system]) if named else "") or (
            f"system {system}"
        )

    def _pair(self, system: int, pair: Int[np.ndarray, " two"]) -> str:
        if "object_name" not in self.dataset:
            return f"objects {' and '.join(map(str, pair))}"
        return " and ".join(map(str, self.dataset["object_name"].values[system, pair]))

    @property
    def content(self) -> str:
        """How many systems and times there are, and what of each, in words."""
        sizes, samples = self.dataset.sizes, len(self.samples)
        held = f"{samples} samples"
        if not samples:
            held = f"mean and {LEVEL} % interval" if "lower" in self.dataset else "mean alone"
        systems, times = (f"{sizes[d]} {d}{'s' * (sizes[d] != 1)}" for d in ("system", "time"))
        return f"{systems}, {times} each, {held}"

    def without_samples(self) -> "Forecasts":
        """The same without samples, which are most of a file; the intervals stay."""
        return Forecasts(self.dataset.drop_vars("samples", errors="ignore"))

    def to_dataframe(self) -> "pd.DataFrame":
        """A table with one row per system, object and time: names or numbers, date or time, and
        mean, lower and upper end of the 90 % interval of each feature (x_mean, x_lower, x_upper).

        Columns of names and times are called as in the table that the data came from. Objects that
        are absent, or were not seen during the condition, have no rows.
        """
        return forecast_tables.forecast_frame(self.dataset)

    def write_table(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write `to_dataframe` as CSV or Parquet, as the ending of the path says, in one step.

        An existing file is replaced only with `overwrite`.
        """
        forecast_tables.write_table(self.dataset, Path(path), overwrite=overwrite)

    def write(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write everything to NetCDF (.nc), or the table to CSV or Parquet, in one step.

        An existing file is replaced only with `overwrite`: a path may be that of the data.
        """
        target = Path(path)
        check_output(target)
        if forecast_tables.is_table(target):
            self.write_table(target, overwrite=overwrite)
            return
        claim_output(target, overwrite=overwrite)
        encoding = {
            name: {"zlib": True, "complevel": 4}
            for name, variable in self.dataset.data_vars.items()
            if variable.dtype.kind == "f"
        }
        netcdf.write_dataset(forecast_file.with_hashes(self.dataset), target, encoding)


def check_output(path: Path) -> None:
    """Refuse a path that no forecast can be written to, before any forecast is made."""
    if forecast_tables.is_table(path):
        forecast_tables.check_table_output(path)
    elif path.suffix not in (".nc", ".nc4"):
        raise InputError(
            f"cannot write a forecast to {path}. Expected the name of a NetCDF file, ending in "
            f".nc, or of a table, ending in {' or '.join(forecast_tables.ENDINGS)}. Change the "
            f"output path."
        )


@freed_memory_kept()
@torch.no_grad()
def forecast_future(
    model: Forecaster,
    observed: Trajectories,
    condition: int,
    frames: Float[np.ndarray, " outputs"],
    *,
    calibration: Calibration | None,
    samples: int,
    seed: int,
) -> Forecasts:
    """Forecast every system at `frames` after its last frame."""
    normaliser = model.normaliser
    windows = Windows(observed, normaliser, condition, 1)
    shape = (observed.systems, observed.objects, len(frames), len(normaliser.features))
    held = 16.0 if observed.is_stored else HELD
    refuse_beyond_memory(
        held * (samples + 6) * float(np.prod(shape, dtype=np.float64)),
        f"a forecast of {observed.systems} systems and {len(frames)} frames with {samples} samples",
        "Forecast one split at a time (--split), fewer frames (--until), or fewer --samples.",
    )
    together = systems_at_once(model, observed, len(frames))
    mean, drawn = np.full(shape, np.nan), np.full((samples, *shape), np.nan)
    ends = np.full((2, *shape), np.nan)
    contexts: dict[str, list[np.ndarray]] = {}
    present = observed.present
    torch.manual_seed(seed)
    first, ended = 0, Endings.none(frames, observed.systems)
    for batch in windows.last(together, frames):
        give_back_if_scarce()
        with lasting_solves():
            found = batch_forecast(model, batch, frames, calibration, samples, seed + first)
        rows = slice(first, first + batch.systems)
        every = (found.mean, *found.ends, *found.drawn)
        ended.close(every, found.far, batch.system.numpy(), first)
        mean[rows][present[rows]] = found.mean
        for end, bound in zip(ends, found.ends, strict=bool(samples)):
            end[rows][present[rows]] = bound
        for k, draw in enumerate(found.drawn):
            drawn[k, rows][present[rows]] = draw
        for name, values in found.contexts.items():
            contexts.setdefault(name, []).append(values)
        first += batch.systems
    dataset = _labelled(observed, windows, frames, mean, drawn, ends, contexts)
    ended.label(dataset, normaliser.frame_duration, normaliser.time_units)
    return Forecasts(dataset)


class BatchForecast(NamedTuple):
    """The forecast of one batch in the units of the data; without samples there are no ends."""

    mean: Float[np.ndarray, "object output feature"]
    ends: tuple[Float[np.ndarray, "object output feature"], ...]
    drawn: list[Float[np.ndarray, "object output feature"]]
    contexts: dict[str, np.ndarray]
    far: Bool[np.ndarray, "object output"]
    """Where the mean is far outside the training data, see `FAR`."""


def batch_forecast(
    model: Forecaster,
    batch: Batch,
    frames: Float[np.ndarray, " outputs"],
    calibration: Calibration | None,
    samples: int,
    seed: int,
) -> BatchForecast:
    """Forecast the systems of a batch; `seed` is that of calibrated samples."""
    normaliser = model.normaliser
    times = torch.tensor(frames, dtype=torch.float32).expand(batch.systems, -1)
    there = (batch.to(model.device), times.to(model.device))
    result = model.forecast(*there, draws_for(samples, calibration)).cpu()
    found = result.mean.double().numpy()
    lost = ~np.isfinite(found)
    scaled = np.where(lost, 0.0, found)  # Statistics of what is lost would only warn.
    draws = result.samples.double().numpy()
    ends: tuple[np.ndarray, ...] = ()
    exact = None
    if calibration is not None and samples:
        object_times = times[batch.system].double().numpy()
        reference = batch.reference.double().numpy()
        draws = np.nan_to_num(draws, nan=0.0, posinf=0.0, neginf=0.0)
        exact = calibration.interval(scaled, draws, object_times, LEVEL, reference)
        draws = calibration.samples(scaled, draws, object_times, samples, seed, reference)

    def raw(values: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(lost, np.nan, normaliser.raw(values))

    if samples:
        with np.errstate(invalid="ignore"):
            ends = tuple(raw(bound) for bound in exact or interval(draws, LEVEL))
    return BatchForecast(
        raw(scaled),
        ends,
        [raw(draws[k]) for k in range(samples)],
        {name: values.numpy() for name, values in result.contexts.items()},
        np.asarray((np.abs(scaled) > FAR).any(2)),
    )


def _seen(observed: Trajectories, windows: Windows) -> Bool[np.ndarray, "system object"]:
    """Whether an object was observed during the condition; of others a forecast knows nothing."""
    stored = observed.stored("states")
    if stored is not None:
        starts = np.maximum(windows.seen - windows.condition, 0)
        parts = [
            np.isfinite(stored.windows(rows, starts[rows], windows.condition)).any((2, 3))
            for rows in stored.row_blocks()
        ]
        return np.concatenate(parts)
    frame = np.arange(observed.frames)
    within = (frame < windows.seen[:, None]) & (frame >= windows.seen[:, None] - windows.condition)
    return np.asarray((observed.observed.any(3) & within[:, None]).any(2))


def _labelled(
    observed: Trajectories,
    windows: Windows,
    frames: np.ndarray,
    mean: np.ndarray,
    drawn: np.ndarray,
    ends: np.ndarray,
    contexts: dict[str, list[np.ndarray]],
) -> xr.Dataset:
    dims = ("system", "object", "time", "feature")
    last = observed.times[np.arange(observed.systems), windows.seen - 1]
    times = last[:, None] + frames * windows.normaliser.frame_duration
    dataset = xr.Dataset(
        {
            "mean": (dims, mean),
            "times": (("system", "time"), times, {"units": windows.normaliser.time_units}),
            "split": observed.dataset["split"],
            "seen": (("system", "object"), _seen(observed, windows)),
        },
        coords={
            name: observed.dataset[name] for name in ("feature", "feature_role", "feature_units")
        },
        attrs={
            "title": "forecast",
            "observed_hash": observed.hash,
            "condition_frames": windows.condition,
        },
    )
    for name in ("topology", "present", "system_name", "object_name"):
        if name in observed.dataset:
            dataset[name] = observed.dataset[name]
    source = observed.dataset.attrs
    recipe = recipe_of(source["generator"], source["generator_settings"])
    if recipe is not None:
        for key in forecast_tables.KEYS:
            dataset.attrs[f"{key}_column"] = getattr(recipe, key)
    if observed.time_origin:
        dataset.attrs["time_origin"] = observed.time_origin
    if len(drawn):
        dataset["samples"] = (("sample", *dims), drawn)
        dataset["lower"], dataset["upper"] = (dims, ends[0]), (dims, ends[1])
    present = observed.present
    for name, parts in contexts.items():
        values = np.concatenate(parts)
        if name.startswith("system"):
            dataset[name] = (("system", f"{name}_channel"), values)
        else:
            full = np.full((*present.shape, values.shape[1]), np.nan)
            full[present] = values
            dataset[name] = (("system", "object", f"{name}_channel"), full)
    return dataset
