"""Collect the content of a report from a run and its data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int

from pgode import __version__
from pgode.batches.windows import Windows
from pgode.data.schema import SPLITS
from pgode.data.summary import per_system
from pgode.data.trajectories import Trajectories
from pgode.evaluation import predict
from pgode.models import build_model, model_config
from pgode.reports import ReportData, write_report
from pgode.reports.molecule.atoms import atoms_of
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import deviation
from pgode.runs.folder import read_noise_floor
from pgode.runs.laws import force_laws, laws_of
from pgode.runs.outputs import check_report, is_own_report
from pgode.runs.report.examples import examples_of
from pgode.runs.run import Run
from pgode.runtime.choices import abridged, is_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import COUNT


def write_run_report(
    run: Run,
    data: Trajectories,
    path: Path,
    *,
    examples: int,
    samples: int,
    seed: int,
    horizons: Sequence[int] | None = None,
    overwrite: bool = False,
) -> None:
    """Evaluate a run on data and write its HTML report.

    The default horizons are those of `Run.evaluate`: the trained one and multiples of 12 below it.
    An existing file is replaced only with `overwrite`, except the page of the run in its folder
    (report.html), which is made again.
    """
    check_report(run, path, overwrite=overwrite)
    if not is_int(examples) or not 0 <= examples <= COUNT:
        raise InputError(
            f"cannot show {abridged(examples)} systems of each split. Expected 0 or more, at most "
            f"{COUNT}. Correct --examples."
        )
    data = run.conform(data)
    evaluation = run.evaluate(data, horizons=horizons, samples=samples, seed=seed)
    horizon = max(evaluation.horizons)
    shown = [
        example
        for split in (evaluation.splits if examples else ())
        for example in examples_of(
            run, data.split_of(split), split, horizon, examples, samples, seed
        )
    ]
    normaliser = run.normaliser
    write_report(
        ReportData(
            title=data.dataset.attrs["title"] or f"{run.config.name} on {run.folder.name}",
            summary=_summary(run, data),
            evaluation=evaluation,
            epochs=run.epochs,
            features=normaliser.features,
            roles=normaliser.roles,
            variables=normaliser.variables,
            units=normaliser.units,
            time_units=normaliser.time_units,
            examples=shown,
            parameters=_ranges(data),
            molecule=_molecule(run, data, evaluation.splits, horizon),
            laws=laws_of(run, data) if force_laws(run.model) is not None else None,
        ),
        path,
        overwrite=overwrite,
        own=is_own_report(run.folder, path),
    )


def _molecule(
    run: Run, data: Trajectories, splits: tuple[str, ...], horizon: int
) -> MoleculeData | None:
    """The molecule and the deviation of its forecasts; None if the objects are not atoms."""
    axes = run.normaliser.positions
    if not data.topology or len(axes) != 3 or not data.present.all():
        return None
    atoms = atoms_of(data.topology, data.dataset["group"].values[0])
    group = np.array([atom.group for atom in atoms])
    models = {
        run.config.name: run.model,
        "last-value": build_model("last-value", model_config("last-value", {}), run.normaliser),
    }
    deviations = []
    for split in splits:
        chosen = data.split_of(split)
        windows = Windows(chosen, run.normaliser, run.config.window.condition, horizon)
        forecasts = {name: predict(model, windows) for name, model in models.items()}
        shape = (chosen.systems, len(atoms), horizon, -1)
        raw = {
            name: run.normaliser.raw(each.mean).reshape(shape)[..., axes]
            for name, each in forecasts.items()
        }
        forecast = forecasts[run.config.name]
        truth = np.where(forecast.known, run.normaliser.raw(forecast.truth), np.nan)
        times = forecast.times.mean(0) * run.normaliser.frame_duration
        deviations.append(deviation(split, times, raw, truth.reshape(shape)[..., axes], group))
    floor = read_noise_floor(run.folder)
    x, y, z = axes
    return MoleculeData(atoms, (x, y, z), run.normaliser.units[x], deviations, floor)


def _summary(run: Run, data: Trajectories) -> list[tuple[str, str]]:
    config = run.config
    present = [name for name in SPLITS if (data.split == name).any()]
    counts = {name: int((data.split == name).sum()) for name in present}
    size = sum(parameter.numel() for parameter in run.model.parameters())
    rows = [
        ("model", f"{config.name}, preset {config.preset}, {size:,} parameters"),
        ("data", f"{data.dataset.attrs['generator'] or run.data.source or 'arrays'}"),
        ("systems", ", ".join(f"{count} {name}" for name, count in counts.items())),
        ("objects", per_system(int(data.n_objects.min()), int(data.n_objects.max()), "object")),
        ("frames", f"{_span(data.n_frames)} per system"),
        ("window", f"condition {config.window.condition}, horizon {config.window.horizon} frames"),
    ]
    if run.epochs:
        minutes = run.epochs[-1]["seconds"] / 60
        rows.append(("training", f"{run.epochs[-1]['epoch']} epochs, {minutes:.1f} minutes"))
    rows += [
        ("seed", str(config.training.seed)),
        ("data hash", data.hash),
        ("versions", f"pgode {__version__}, torch {torch.__version__}"),
    ]
    return rows


def _span(counts: Int[np.ndarray, " system"]) -> str:
    """The least and the most of some counts, or the one number that they all are."""
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _ranges(data: Trajectories) -> dict[str, Any]:
    """The range of each known system parameter in each split."""
    names = [str(name) for name in data.dataset["parameter"].values]
    return {
        name: {
            split: [float(np.nanmin(values)), float(np.nanmax(values))]
            for split in dict.fromkeys(data.split.tolist())
            if np.isfinite(values := data.parameters[data.split == split, k]).any()
        }
        for k, name in enumerate(names)
    }
