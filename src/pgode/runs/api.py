"""The Python interface to runs: train, resume, open."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pgode.batches.devices import AUTO, chosen_device
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs import training
from pgode.runs.continuation.beginning import Start
from pgode.runs.continuation.origin import Origin
from pgode.runs.folder import find_run
from pgode.runs.run import Run
from pgode.runtime.errors import InputError
from pgode.runtime.outputs import claim_folder
from pgode.training.config import RunConfig, config_for, names_horizon, run_config, within_data
from pgode.training.display import Display
from pgode.training.presets import presets_of


def train(
    data: Trajectories | Path | str,
    folder: Path | str,
    *,
    force: bool = False,
    model: str | None = None,
    preset: str | None = None,
    horizon: int | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    processes: int | None = None,
    config: Path | str | None = None,
    settings: dict[str, Any] | None = None,
    start: Run | Path | str | None = None,
    refit_scales: bool | None = None,
    device: str = AUTO,
    display: Display | None = None,
    on_preset: Callable[[str], None] | None = None,
) -> Run:
    """Train a model on data (or a data file) in a new run folder, and open the run.

    The folder must be new or empty: a run never replaces another one, or anything else.

    The default model is `pgode`. Its default preset is `molecules` for data of atoms, `messages`
    for data that do not name positions and velocities, otherwise `default`; `on_preset` is called
    with the name of a preset that the data selected. `settings` are single changes by their full
    name: {"training.batch": 8}. `device` is auto (CUDA, else Apple's MPS, else the CPU), cpu, cuda,
    cuda:N or mps; it is not stored with the run. An interrupt saves the run and raises
    `TrainingStopped`, a KeyboardInterrupt; `resume` continues from there.

    With `start`, a run, its folder, or the name of a model that comes with pgode, training goes on
    from its weights, with its model, preset and settings but for a smaller learning rate and no
    curriculum. The data must be of the same kind. Scales are fitted to it with
    `refit_scales=True` and kept with False; if not given, as the untouched weights forecast better.
    `settings` may change what leaves the shapes of weights alone. `force` is as for `pgode.read`.
    """
    options = {
        "window.horizon": horizon,
        "training.epochs": epochs,
        "training.seed": seed,
        "training.threads": threads,
        "training.processes": processes,
    }
    changes = dict(settings or {})
    changes |= {key: value for key, value in options.items() if value is not None}
    file = None if config is None else Path(config)
    # Before reading the data, which may take long.
    chosen_device(device)
    origin = _origin(start, refit_scales)
    if origin is not None:
        chosen = origin.origin.settings(model, preset, file, changes)
    else:
        chosen = _possible("pgode" if model is None else model, preset, file, changes)
    training.check_free(Path(folder))
    training.check_new(Path(folder))
    given = None if isinstance(data, Trajectories) else data
    claim_folder(folder, inputs=[given, config], begun=training.is_begun)
    trajectories, source = _read(data, force)
    if display is not None and trajectories.is_stored:
        display.say(f"{source} is large for the memory at hand, so it is read window by window")
    if preset is None and origin is None:
        chosen = config_for(trajectories, "pgode" if model is None else model, file, changes)
        if on_preset is not None and chosen.preset != "default":
            on_preset(chosen.preset)
    fitted = within_data(chosen, trajectories, asked=names_horizon(file, changes))
    if display is not None and fitted.window.horizon < chosen.window.horizon:
        display.say(f"forecasting {fitted.window.horizon} frames, as many as the data have")
    chosen = fitted
    return training.train(
        trajectories, folder, chosen, source=source, display=display, device=device, start=origin
    )


def _origin(start: Run | Path | str | None, refit_scales: bool | None) -> Start | None:
    """What the run goes on from; None for fresh weights, which always have scales of their own."""
    if start is not None:
        return Start(Origin.open(start), refit_scales)
    if refit_scales is not None:
        raise InputError(
            "scales were asked for, but there is no run to go on from; a new run always fits its "
            "own. Expected both: pgode train DATA -o RUN --from OLD --refit-scales. Leave out "
            "--refit-scales and --keep-scales."
        )
    return None


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
    folder: Path | str,
    data: Trajectories | Path | str,
    *,
    force: bool = False,
    device: str = AUTO,
    display: Display | None = None,
    processes: int | None = None,
) -> Run:
    """Continue a run that was stopped, to the same numbers as without the interruption.

    With another number of `processes` than before they are the same up to rounding, on another
    device up to its rounding and random draws. `force` is as for `pgode.read`.
    """
    chosen_device(device)
    training.check_free(find_run(folder))
    trajectories, source = _read(data, force)
    return training.resume(
        folder,
        trajectories,
        source=source,
        display=display,
        device=device,
        processes=processes,
    )


def open_run(folder: Path | str, device: str = AUTO) -> Run:
    """Open a run folder, or a model that comes with pgode by its name ("springs-10").

    `device` computes its forecasts, wherever it was trained: auto, cpu, cuda, cuda:N or mps.
    """
    return Run.open(folder, device)


def _read(data: Trajectories | Path | str, force: bool) -> tuple[Trajectories, str]:
    if isinstance(data, Trajectories):
        return data, ""
    return files.read(Path(data), force=force), str(data)
