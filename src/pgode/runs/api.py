"""The Python interface to runs: train, resume, open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs import training
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.runtime.files import writable_folder
from pgode.training.config import RunConfig, config_for, names_horizon, run_config, within_data
from pgode.training.display import Display
from pgode.training.presets import presets_of


def train(
    data: Trajectories | Path | str,
    folder: Path | str,
    *,
    model: str = "pgode",
    preset: str | None = None,
    horizon: int | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    config: Path | str | None = None,
    settings: dict[str, Any] | None = None,
    display: Display | None = None,
    on_preset: Callable[[str], None] | None = None,
) -> Run:
    """Train a model on data (or a data file) in a new run folder, and open the run.

    The default preset is `molecules` for data of atoms, `messages` for data that do not name
    positions and velocities, otherwise `default`; `on_preset` is called with the name of a preset
    that the data selected. `settings` are single changes by their full
    name: {"training.batch": 8}. An interrupt saves the run and raises `TrainingStopped`, a
    KeyboardInterrupt; `resume` continues from there.
    """
    options = {
        "window.horizon": horizon,
        "training.epochs": epochs,
        "training.seed": seed,
        "training.threads": threads,
    }
    changes = dict(settings or {})
    changes |= {key: value for key, value in options.items() if value is not None}
    file = None if config is None else Path(config)
    # Before reading the data, which may take long.
    chosen = _possible(model, preset, file, changes)
    training.check_new(Path(folder))
    writable_folder(Path(folder) / "config.json")
    trajectories, source = _read(data)
    if display is not None and trajectories.is_stored:
        display.say(f"{source} is large for the memory at hand, so it is read window by window")
    if preset is None:
        chosen = config_for(trajectories, model, file, changes)
        if on_preset is not None and chosen.preset != "default":
            on_preset(chosen.preset)
    fitted = within_data(chosen, trajectories, asked=names_horizon(file, changes))
    if display is not None and fitted.window.horizon < chosen.window.horizon:
        display.say(f"forecasting {fitted.window.horizon} frames, as many as the data have")
    chosen = fitted
    return training.train(trajectories, folder, chosen, source=source, display=display)


def _possible(
    model: str, preset: str | None, file: Path | None, changes: dict[str, Any]
) -> RunConfig:
    """The settings with the named preset, or with the first that allows the changes."""
    if preset is not None:
        return run_config(model, preset, file, changes)
    problems = []
    for name in presets_of(model):
        try:
            return run_config(model, name, file, changes)
        except InputError as error:
            problems.append(error)
    raise problems[0]


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
