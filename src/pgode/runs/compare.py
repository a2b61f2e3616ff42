"""Compare runs on the same windows of one data set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgode.batches.devices import AUTO
from pgode.batches.origins import Origins, parsed
from pgode.batches.windows import Windows
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.evaluation.baselines import Baselines, distinct
from pgode.evaluation.evaluation import ScoreTable
from pgode.evaluation.horizons import check_horizons, default_horizons
from pgode.evaluation.paired.bootstrap import Sums, differences, resampled_unit
from pgode.evaluation.paired.result import RunComparison
from pgode.evaluation.predictions import Predictions, predict
from pgode.evaluation.scores.metrics import METRICS
from pgode.evaluation.scores.selection import chosen_metrics
from pgode.evaluation.uncertainty.calibration import draws_for
from pgode.runs.exchange.ahead import check_draws
from pgode.runs.folder import source_of
from pgode.runs.run import Run
from pgode.runtime.errors import InputError


def compare(
    runs: Sequence[Run | Path | str],
    data: Trajectories | Path | str | None = None,
    *,
    force: bool = False,
    split: str = "test",
    origins: str | None = None,
    metric: str = "mse",
    horizons: Sequence[int] | None = None,
    samples: int = 20,
    seed: int = 0,
    device: str = AUTO,
) -> RunComparison:
    """Errors of several runs on the same forecast frames, with ranges of their differences.

    The first run is the one that others are compared with, and whose scaled units are used. Runs
    may have conditions of different lengths: windows are aligned so that all forecast the same
    frames. The data are those of the first run if not given. Runs that are opened here compute on
    `device`. `force` is as for `pgode.read`.
    """
    check_draws(samples, seed)
    opened = named_runs(runs, device)
    first = next(iter(opened.values()))
    _check_alike(opened)
    check_metric(metric)
    chosen_metrics([metric], first.normaliser, samples)
    source = data if data is not None else source_of(first.folder)
    given = source if isinstance(source, Trajectories) else files.read(Path(source), force=force)
    label = "the given data" if isinstance(source, Trajectories) else str(source)
    parts = {name: run.conform(given, label).split_of(split) for name, run in opened.items()}
    condition = max(run.config.window.condition for run in opened.values())
    shortest = min(run.config.window.horizon for run in opened.values())
    scored = sorted(set(horizons or default_horizons(shortest)))
    check_horizons(given, [split], condition, scored)
    rolling = any(run.config.window.rolling for run in opened.values())
    where = origins or ("rolling" if rolling else "first")
    frames = parts[next(iter(opened))].n_frames
    places = parsed(where, frames, condition, max(scored))
    found = {
        name: _forecasts(run, parts[name], places, condition, max(scored), metric, samples, seed)
        for name, run in opened.items()
    }
    shared = {
        name: each if run is first else _in_units_of(first, run, each)
        for (name, run), each in zip(opened.items(), found.values(), strict=True)
    }
    naive, omitted = _naive(first, given, split, places, condition, scored, metric)
    return _compared(first, shared, naive, omitted, scored, metric, split, where, given, seed)


def named_runs(runs: Sequence[Run | Path | str], device: str = AUTO) -> dict[str, Run]:
    """Runs by a short name: that of the folder, or the whole path where two are the same."""
    opened = [each if isinstance(each, Run) else Run.open(each, device) for each in runs]
    if len(opened) < 2:
        raise InputError(
            f"cannot compare {len(opened)} run. Expected at least two: pgode compare runs/a "
            f"runs/b. Name another."
        )
    short = [run.folder.resolve().name for run in opened]
    long = [str(run.folder) for run in opened]
    names = short if len(set(short)) == len(short) else long
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"the run {name} was given twice. Expected different runs. Leave one out."
            )
    return dict(zip(names, opened, strict=True))


def check_metric(metric: str) -> None:
    """Refuse a metric of which lower is not better."""
    if metric in METRICS and METRICS[metric].power is None:
        usable = ", ".join(name for name, each in METRICS.items() if each.power is not None)
        raise InputError(
            f"cannot compare runs by {metric}: a larger share is not a better forecast. Expected "
            f"one of {usable}. Choose one of these."
        )


def _check_alike(runs: dict[str, Run]) -> None:
    """Refuse runs that do not forecast the same quantities at the same time step."""
    (first, one), *others = runs.items()
    for name, other in others:
        a, b = one.normaliser, other.normaliser
        for what, mine, theirs in (
            ("features", a.features, b.features),
            ("units", a.units, b.units),
            ("variables", a.variables, b.variables),
        ):
            if mine != theirs:
                raise InputError(
                    f"{first} and {name} cannot be compared: the {what} of the first are "
                    f"{', '.join(each or '(none)' for each in mine)}, those of the other "
                    f"{', '.join(each or '(none)' for each in theirs)}. Expected the same. Compare "
                    f"runs of the same kind of data."
                )
        if not np.isclose(a.frame_duration, b.frame_duration, rtol=0.01):
            raise InputError(
                f"{first} and {name} cannot be compared: a frame of the first lasts "
                f"{a.frame_duration:g}, one of the other {b.frame_duration:g}. Expected the same "
                f"time step. Compare runs of the same kind of data."
            )


def _forecasts(
    run: Run,
    data: Trajectories,
    places: Origins,
    condition: int,
    horizon: int,
    metric: str,
    samples: int,
    seed: int,
) -> Predictions:
    """Forecasts of the frames after `condition` in each window, with samples if needed."""
    own = run.config.window.condition
    windows = Windows(data, run.normaliser, own, horizon)
    later = Origins(places.systems, places.starts + condition - own)
    count = samples if METRICS[metric].needs_samples else 0
    found = predict(run.model, windows, draws_for(count, run.calibration), seed, later)
    if count and run.calibration is not None:
        return run.calibration.resampled(found, count, seed)
    return found.with_draws(found.draws.astype(np.float64))


def _in_units_of(first: Run, run: Run, predictions: Predictions) -> Predictions:
    """Forecasts of a run in the scaled units of the first one."""
    a, b = first.normaliser, run.normaliser
    if (a.centre, a.scale, a.transforms) == (b.centre, b.scale, b.transforms):
        return predictions
    return predictions.mapped(lambda scaled: a.states(b.raw(scaled)))


def _naive(
    first: Run,
    data: Trajectories,
    split: str,
    places: Origins,
    condition: int,
    horizons: Sequence[int],
    metric: str,
) -> tuple[dict[str, ScoreTable], dict[str, str]]:
    """Errors of the naive models, which see as much as the run that sees most."""
    normaliser, score = first.normaliser, METRICS[METRICS[metric].of_point or metric]
    whole = first.conform(data)
    baselines = Baselines.of(normaliser, whole, condition, max(horizons))
    windows = Windows(whole.split_of(split), normaliser, condition, max(horizons))
    tables = {
        name: ScoreTable(
            {split: score.rows(predict(model, windows, origins=places), normaliser, horizons)}
        )
        for name, model in baselines.models.items()
    }
    return {name: tables[name] for name in distinct(tables)}, baselines.omitted


def _compared(
    first: Run,
    found: dict[str, Predictions],
    naive: dict[str, ScoreTable],
    omitted: dict[str, str],
    horizons: Sequence[int],
    metric: str,
    split: str,
    origins: str,
    data: Trajectories,
    seed: int,
) -> RunComparison:
    score, normaliser = METRICS[metric], first.normaliser
    columns = tuple(score.columns(normaliser))
    if score.over == "all features":
        columns = tuple(normaliser.variable_features)
    one = next(iter(found.values()))
    # What one run sees decides which frames of the truth exist; the windows are the same.
    known = np.logical_and.reduce([each.known for each in found.values()])
    found = {name: replace(each, known=known) for name, each in found.items()}
    kind, unit = resampled_unit(one)
    sums = {
        name: Sums.of(score, each, normaliser, horizons, columns, unit)
        for name, each in found.items()
    }
    index = score.columns(normaliser)
    curves = {}
    for name, each in found.items():
        values = score.values(each)
        curves[name] = {
            column: [score.score(values[:, k : k + 1, index[column]]) for k in range(each.frames)]
            for column in columns
        }
    return RunComparison(
        metric=metric,
        split=split,
        origins=origins,
        horizons=tuple(horizons),
        columns=columns,
        systems=len(np.unique(one.data_system)),
        windows=one.windows,
        unit=kind,
        units=len(next(iter(sums.values())).total),
        errors={
            name: ScoreTable({split: score.rows(each, normaliser, horizons)})
            for name, each in found.items()
        },
        naive=naive,
        curves=curves,
        differences=differences(sums, score, horizons, columns, seed),
        data_hash=data.hash,
        seed=seed,
        omitted=omitted,
    )
