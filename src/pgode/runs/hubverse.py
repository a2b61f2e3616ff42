"""Quantile forecasts of weekly deaths as the CSV files that forecast hubs collect today.

A mean over seven days that ends on a Saturday is a seventh of that week's total, so the quantiles
of a week are those of a single frame, and nothing has to be added up.
"""

import csv
import io
import json
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from pgode.batches.windows import Windows
from pgode.data.files.covid.days import GENERATOR
from pgode.data.files.covid.states import FIPS
from pgode.data.trajectories import Trajectories
from pgode.evaluation.covid.quantiles import LEVELS
from pgode.evaluation.uncertainty.calibration import DRAWS, Calibration
from pgode.runs.outputs import run_inputs
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_text
from pgode.runtime.outputs import claim_output

COLUMNS = (
    *("reference_date", "target", "horizon", "target_end_date"),
    *("location", "output_type", "output_type_id", "value"),
)
TARGET = "wk inc covid death"
WEEK = 7
SATURDAY = 5


def check_hubverse_output(path: Path) -> None:
    """Refuse a path that does not name a CSV file, before any forecast is made."""
    if path.suffix.lower() != ".csv":
        raise InputError(
            f"cannot write a forecast for a hub to {path}. Expected the name of a file that ends "
            f"in .csv. Change the output path."
        )


def write_hubverse(
    run: Run, data: Trajectories, path: Path, source: str, *, overwrite: bool = False
) -> tuple[date, int]:
    """Write the quantiles of each state's deaths in each week; the reference date and the weeks.

    The reference date is the last Saturday in the data; later days are not used. Horizon 1 is the
    week after it. An existing file is replaced only with `overwrite`.
    """
    check_hubverse_output(path)
    claim_output(path, inputs=run_inputs([run]), overwrite=overwrite)
    observed, saturday = _until_saturday(data, source)
    weeks = run.config.window.horizon // WEEK
    if weeks < 1 or run.calibration is None:
        raise InputError(
            f"{run.folder} was trained to forecast {run.config.window.horizon} days"
            f"{', without calibration' if run.calibration is None else ''}. Expected a calibrated "
            f"run with a horizon of at least one week. Train with --horizon 21."
        )
    values = _quantiles(run, run.calibration, run.conform(observed, source), weeks)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for place in range(observed.objects):
        name = observed.object_label(0, place)
        for week in range(weeks):
            end = saturday + timedelta(weeks=week + 1)
            shared = (saturday, TARGET, week + 1, end, FIPS[name], "quantile")
            for level, value in zip(LEVELS, values[:, place, week], strict=True):
                table.writerow((*shared, f"{level:g}", f"{value:.2f}"))
    write_text(path, text.getvalue())
    return saturday, weeks


def _until_saturday(data: Trajectories, source: str) -> tuple[Trajectories, date]:
    """The latest days up to a Saturday."""
    settings = json.loads(data.dataset.attrs["generator_settings"])
    if data.dataset.attrs["generator"] != GENERATOR or settings.get("average") != WEEK:
        raise InputError(
            f"{source} does not hold weekly means of the epidemic. Expected data of US states made "
            f"with pgode data covid --average 7. Make the data so, train on it, or write a "
            f"NetCDF file instead (leave --format out)."
        )
    latest = int(np.argmax(np.nanmax(data.times, axis=1)))
    one = data.select([latest])
    count = int(one.n_frames[0])
    first = date.fromisoformat(data.time_origin[:10])
    days = [first + timedelta(days=int(time)) for time in one.times[0, :count]]
    saturdays = [place for place, day in enumerate(days) if day.weekday() == SATURDAY]
    if not saturdays:
        raise InputError(
            f"{source} has {count} days up to {days[-1]} and no Saturday among them. Expected one, "
            f"from which a hub counts weeks. Give more days."
        )
    return one.frames_between(0, saturdays[-1] + 1), days[saturdays[-1]]


@torch.no_grad()
def _quantiles(
    run: Run, calibration: Calibration, observed: Trajectories, weeks: int
) -> Float[np.ndarray, "level state week"]:
    """Deaths of each week at all levels, never negative and never falling with the level."""
    normaliser = run.normaliser
    frames = WEEK * np.arange(1.0, weeks + 1)
    windows = Windows(observed, normaliser, run.config.window.condition, 1)
    batch = next(iter(windows.last(1, frames)))
    times = torch.tensor(frames, dtype=torch.float32).unsqueeze(0)
    torch.manual_seed(0)
    there = (batch.to(run.model.device), times.to(run.model.device))
    result = run.model.forecast(*there, DRAWS).cpu()
    mean, draws = result.mean.double().numpy(), result.samples.double().numpy()
    clock = np.broadcast_to(frames, mean.shape[:2])
    deaths = normaliser.features.index("deaths")
    found = np.empty((len(LEVELS), *mean.shape[:2]))
    for place, level in enumerate(LEVELS):
        percent = round(abs(100 - 200 * level))
        ends = calibration.interval(mean, draws, clock, percent)
        assert ends is not None  # Joint residuals need reference positions; counts have none.
        bound = normaliser.raw(ends[0 if level <= 0.5 else 1])
        found[place] = WEEK * np.maximum(bound[..., deaths], 0.0)
    return np.maximum.accumulate(found, axis=0)
