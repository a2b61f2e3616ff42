"""The few calls that do everything from Python: train, resume, open a run."""

from pathlib import Path
from typing import Any

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs.run import Run
from pgode.runs.run import resume as resume_run
from pgode.runs.run import train as train_run
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
    """Train a model on data (or a file of it) into a new run folder, and open it.

    Without a preset it is `molecules` for data of atoms, else `default`. `settings` are single
    changes by their full name: {"model.prototypes": 3}. An interrupt saves the run and raises
    KeyboardInterrupt; `resume` goes on from there.
    """
    given, source = _data(data)
    changes = dict(settings or {})
    if horizon is not None:
        changes["window.horizon"] = horizon
    if epochs is not None:
        changes["training.epochs"] = epochs
    file = None if config is None else Path(config)
    if preset is None:
        chosen = config_for(given, model, file, changes)
    else:
        chosen = run_config(model, preset, file, changes)
    return _finished(train_run(given, folder, chosen, source=source, display=display))


def resume(
    folder: Path | str, data: Trajectories | Path | str, *, display: Display | None = None
) -> Run:
    """Continue a run that was stopped; it ends with the same numbers as if it had not been."""
    given, source = _data(data)
    return _finished(resume_run(folder, given, source=source, display=display))


def open_run(folder: Path | str) -> Run:
    """Open a run folder, or a model that comes with pgode by its name ("springs-10")."""
    return Run.open(folder)


def _data(data: Trajectories | Path | str) -> tuple[Trajectories, str]:
    if isinstance(data, Trajectories):
        return data, ""
    return files.read(Path(data)), str(data)


def _finished(run: Run | None) -> Run:
    if run is None:
        raise KeyboardInterrupt("training was interrupted; its state is saved")
    return run
