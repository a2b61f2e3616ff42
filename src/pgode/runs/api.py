"""The Python interface to runs: train, resume, open."""

from pathlib import Path
from typing import Any

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs import training
from pgode.runs.run import Run
from pgode.training.config import config_for, run_config
from pgode.training.display import Display


def train(
    data: Trajectories | Path | str,
    folder: Path | str,
    *,
    model: str = "pgode",
    preset: str | None = None,
    horizon: int | None = None,
    epochs: int | None = None,
    config: Path | str | None = None,
    settings: dict[str, Any] | None = None,
    display: Display | None = None,
) -> Run:
    """Train a model on data (or a data file) in a new run folder, and open the run.

    The default preset is `molecules` for data of atoms, otherwise `default`. `settings` are single
    changes by their full name: {"training.batch": 8}. An interrupt saves the run and raises
    `TrainingStopped`, a KeyboardInterrupt; `resume` continues from there.
    """
    trajectories, source = _read(data)
    changes = dict(settings or {})
    if horizon is not None:
        changes["window.horizon"] = horizon
    if epochs is not None:
        changes["training.epochs"] = epochs
    file = None if config is None else Path(config)
    if preset is None:
        chosen = config_for(trajectories, model, file, changes)
    else:
        chosen = run_config(model, preset, file, changes)
    return training.train(trajectories, folder, chosen, source=source, display=display)


def resume(
    folder: Path | str, data: Trajectories | Path | str, *, display: Display | None = None
) -> Run:
    """Continue a run that was stopped, to the same numbers as without the interruption."""
    trajectories, source = _read(data)
    return training.resume(folder, trajectories, source=source, display=display)


def open_run(folder: Path | str) -> Run:
    """Open a run folder, or a model that comes with pgode by its name ("springs-10")."""
    return Run.open(folder)


def _read(data: Trajectories | Path | str) -> tuple[Trajectories, str]:
    if isinstance(data, Trajectories):
        return data, ""
    return files.read(Path(data)), str(data)
