"""`pgode train`: fit a model, or go on with one."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def train(
    data: Path | None = None,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    model: str = "pgode",
    preset: str | None = None,
    horizon: int | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    config: Path | None = None,
    changes: Annotated[
        tuple[str, ...], Parameter(name="--set", negative=(), consume_multiple=False)
    ] = (),
    resume: Path | None = None,
) -> int:
    """Train a model on a data file, or resume a run that was stopped.

    An interrupt (Ctrl-C) saves the run and ends; --resume continues it to the same numbers.

    Parameters
    ----------
    data
        Data file: .nc, .zarr or .npz. With --resume, only if the file has moved.
    output
        New run folder.
    model
        One of those that pgode models lists.
    preset
        default (what measured better), paper (the published model, as far as a setting can) or
        molecules (default, at a seventh of the cost). If not given, molecules for data of atoms
        and default for all other.
    horizon
        Frames to forecast in training.
    epochs
        Passes over the training systems.
    seed
        Fixes weights, order and draws.
    threads
        CPU threads; as many as torch chooses if not given.
    config
        YAML file with the groups model, window and training.
    changes
        A single setting, such as --set model.prototypes=3; can be given again.
    resume
        Run folder to continue.
    """
    from rich.console import Console

    from pgode.data import files
    from pgode.runs import run
    from pgode.runs.folder import source_of
    from pgode.runtime.errors import InputError
    from pgode.runtime.files import writable_folder
    from pgode.training.config import config_for, parse_changes, run_config
    from pgode.training.display import Live

    console = Console()
    if resume is not None:
        others = (output, preset, horizon, epochs, seed, threads, config, *changes)
        if any(other is not None for other in others) or model != "pgode":
            raise InputError(
                "--resume continues a run with the settings it has, and takes no others. Expected "
                "only --resume RUN (and the data file if it moved). Start a new run to change them."
            )
        source = data or source_of(resume)
        result = run.resume(resume, files.read(source), source=str(source), display=Live())
        folder = resume
    else:
        if data is None or output is None:
            raise InputError(
                "a new run needs a data file and an output folder. Expected: pgode train DATA -o "
                "RUN. To continue a run: pgode train --resume RUN."
            )
        given = parse_changes(list(changes))
        for key, value in (
            ("window.horizon", horizon),
            ("training.epochs", epochs),
            ("training.seed", seed),
            ("training.threads", threads),
        ):
            if value is not None:
                given[key] = value
        chosen = run_config(model, preset or "default", config, given)
        writable_folder(output / "config.json")
        trajectories = files.read(data)
        if preset is None:
            chosen = config_for(trajectories, model, config, given)
            if chosen.preset != "default":
                console.print(f"The data is a molecule's: preset {chosen.preset}.", highlight=False)
        result = run.train(trajectories, output, chosen, source=str(data), display=Live())
        folder = output
    if result is None:
        console.print(
            f"Stopped; the run is saved. Continue it: pgode train --resume {folder}",
            highlight=False,
            soft_wrap=True,
        )
        return 130
    console.print(
        f"Trained {folder}. Next: pgode evaluate {folder}", highlight=False, soft_wrap=True
    )
    return 0
