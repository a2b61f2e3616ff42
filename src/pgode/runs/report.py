"""Collect the content of a report from a run and its data."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from pgode import __version__
from pgode.batches.windows import Windows
from pgode.data.schema import SPLITS
from pgode.data.summary import per_system
from pgode.data.trajectories import Trajectories
from pgode.evaluation import Predictions, predict
from pgode.evaluation.predictions import Interval
from pgode.evaluation.scores.probabilistic import interval
from pgode.evaluation.uncertainty.calibration import Calibration, draws_for
from pgode.models import build_model, model_config
from pgode.reports import Example, ReportData, write_report
from pgode.reports.base.example import Encounters, Trust
from pgode.reports.molecule.atoms import atoms_of
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import deviation
from pgode.runs.folder import read_noise_floor
from pgode.runs.laws import force_laws, laws_of
from pgode.runs.run import Run
from pgode.runtime.errors import InputError


def write_run_report(
    run: Run, data: Trajectories, path: Path, *, examples: int, samples: int, seed: int
) -> None:
    """Evaluate a run on data and write its HTML report."""
    if examples < 0:
        raise InputError(
            f"cannot show {examples} systems of each split. Expected 0 or more. Correct --examples."
        )
    data = run.conform(data)
    evaluation = run.evaluate(data, samples=samples, seed=seed)
    horizon = max(evaluation.horizons)
    shown = [
        example
        for split in (evaluation.splits if examples else ())
        for example in _examples(run, data.split_of(split), split, horizon, examples, samples, seed)
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
    )


def _examples(
    run: Run, data: Trajectories, split: str, horizon: int, count: int, samples: int, seed: int
) -> list[Example]:
    """The first systems of a split, forecast from their first frames."""
    chosen = data.select(np.arange(min(count, data.systems)))
    condition = run.config.window.condition
    windows = Windows(chosen, run.normaliser, condition, horizon)
    forecast = predict(run.model, windows, draws_for(samples, run.calibration), seed)
    low, high = _interval(forecast, run.calibration, samples, seed)
    batch = next(windows.batches(chosen.systems))
    raw = run.normaliser.raw
    receivers, senders = batch.graph.receivers.numpy(), batch.graph.senders.numpy()
    weights = batch.graph.weights.numpy()
    examples = []
    for k in range(chosen.systems):
        rows = np.flatnonzero(forecast.system == k)
        inside = np.isin(receivers, rows)
        pairs = receivers[inside] - rows[0], senders[inside] - rows[0]
        edges = zip(*pairs, weights[inside], strict=True)
        elapsed = forecast.times[rows[0]] * run.normaliser.frame_duration
        examples.append(
            Example(
                split=split,
                number=k,
                condition_times=chosen.times[k, :condition],
                forecast_times=elapsed + chosen.times[k, condition - 1],
                observed=chosen.states[k, : len(rows), :condition],
                forecast=raw(forecast.mean[rows]),
                lower=raw(low[rows]),
                upper=raw(high[rows]),
                truth=np.where(forecast.known[rows], raw(forecast.truth[rows]), np.nan),
                edges=[(int(i), int(j), float(w)) for i, j, w in edges],
                gate=forecast.contexts["gate"][rows] if "gate" in forecast.contexts else None,
                parameters=_parameters(chosen, k),
                encounters=_encounters(forecast, k),
            )
        )
    return examples


def _interval(
    forecast: Predictions, calibration: Calibration | None, samples: int, seed: int
) -> Interval:
    """The 90 % interval; the mean forecast alone if there are no samples."""
    if not samples:
        return forecast.mean, forecast.mean
    if calibration is not None:
        forecast = calibration.resampled(forecast, samples, seed)
    return forecast.intervals.get(90) or interval(forecast.draws.astype(np.float64), 90)


def _encounters(forecast: Predictions, system: int) -> Encounters | None:
    """Strength, closest distance and sub-steps of one system, where the model has force laws."""
    contexts = forecast.contexts
    names = ("system_strength", "system_nearest", "system_substeps")
    if not set(names) <= set(contexts):
        return None
    strength, nearest, substeps = (float(contexts[name][system, 0]) for name in names)
    if "system_trusted" not in contexts:
        return Encounters(strength, nearest, round(substeps))
    pair = np.flatnonzero(contexts["untrusted_pair"][forecast.system == system, 0])
    until = float(contexts["system_trusted"][system, 0])
    return Encounters(strength, nearest, round(substeps), Trust(until, tuple(pair.tolist())))


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
        ("window", f"condition {config.window.condition}, horizon {config.window.horizon} frames"),
    ]
    if run.epochs:
        minutes = run.epochs[-1]["seconds"] / 60
        rows.append(("training", f"{len(run.epochs)} epochs, {minutes:.1f} minutes"))
    rows += [
        ("seed", str(config.training.seed)),
        ("data hash", data.hash),
        ("versions", f"pgode {__version__}, torch {torch.__version__}"),
    ]
    return rows


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


def _parameters(data: Trajectories, system: int) -> dict[str, float]:
    names = [str(name) for name in data.dataset["parameter"].values]
    values = zip(names, data.parameters[system], strict=True)
    return {name: float(value) for name, value in values if np.isfinite(value)}
