"""Perturb the forecasts of several runs on the same systems, and compare how they grow."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pgode.batches.devices import AUTO
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.evaluation.robustness.comparison import compare_runs
from pgode.evaluation.robustness.measure import measure_model
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.evaluation.robustness.result import Robustness
from pgode.runs.folder import find_run, read_config, source_of
from pgode.runs.run import Run
from pgode.runtime.errors import InputError

OnProgress = Callable[[str, float], None]
"""Called with a run, as the user named it, and the share of its measurement that is done."""


def measure_robustness(
    runs: Sequence[Path | str],
    data: Trajectories | Path | str | None = None,
    *,
    force: bool = False,
    split: str = "test",
    perturbations: Perturbations | None = None,
    on_progress: OnProgress = lambda run, share: None,
    device: str = AUTO,
) -> Robustness:
    """Perturb the forecasts of every run on one split, and compare several prototypes with one.

    `runs` are folders or names of shipped models. The default of `data` is the file that the first
    run was trained on, that of `perturbations` the horizon it was trained for. All runs are opened
    and their data checked before the first is measured. `force` is as for `pgode.read`.
    """
    paths = _paths(runs)
    opened = [Run.open(path, device) for path in paths]
    perturbations = perturbations or Perturbations(opened[0].config.window.horizon)
    names = _names(paths, [run.folder.resolve() for run in opened])
    trajectories, source = _read(source_of(paths[0]) if data is None else data, force)
    systems = [
        run.conform(trajectories, f"{source} (for the run {path})").split_of(split)
        for path, run in zip(paths, opened, strict=True)
    ]
    measured = []
    for path, run, scored, name in zip(paths, opened, systems, names, strict=True):
        on_progress(path, 0.0)
        condition = run.config.window.condition
        result = measure_model(
            run.model, scored, condition, perturbations, partial(on_progress, path)
        )
        measured.append(replace(result, name=name, run=path, model=run.config.name))
    return Robustness(
        data=source,
        data_hash=trajectories.hash,
        split=split,
        systems=systems[0].systems,
        horizon=perturbations.horizon,
        horizons=perturbations.horizons,
        magnitudes=perturbations.magnitudes,
        draws=perturbations.draws,
        seed=perturbations.seed,
        runs=tuple(measured),
        comparisons=compare_runs(measured),
    )


def trained_horizon(runs: Sequence[Path | str]) -> int:
    """The horizon that the first run was trained for."""
    return read_config(find_run(_paths(runs)[0])).window.horizon


def _paths(runs: Sequence[Path | str]) -> list[str]:
    if not runs:
        raise InputError(
            "no run was given. Expected at least one run folder: pgode robustness RUN [RUN ...]. "
            "Name one, or train one with pgode train first."
        )
    return [str(run) for run in runs]


def _read(data: Trajectories | Path | str, force: bool) -> tuple[Trajectories, str]:
    """The data, and its name in messages and on the page."""
    if isinstance(data, Trajectories):
        return data, "the given data"
    return files.read(Path(data), force=force), str(data)


def _names(runs: Sequence[str], folders: Sequence[Path]) -> list[str]:
    """Each run by the name of its folder; as the user gave it where two folders share a name."""
    for run, folder in zip(runs, folders, strict=True):
        if folders.count(folder) > 1:
            raise InputError(
                f"the run {run} was given twice. Expected each run once. Remove the repetition."
            )
    names = [folder.name for folder in folders]
    return [name if names.count(name) == 1 else run for run, name in zip(runs, names, strict=True)]
