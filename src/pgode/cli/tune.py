"""`pgode tune`: search for settings with the lowest validation error."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Force, OptionalOutput


def tune(
    data: Path | None = None,
    *,
    force: Force = False,
    output: OptionalOutput = None,
    trials: int = 40,
    model: str = "pgode",
    preset: str | None = None,
    space: Path | None = None,
    list_space: Annotated[bool, Parameter(negative=())] = False,
    epochs: int | None = None,
    horizon: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    engine: str = "local",
    prune: Annotated[bool, Parameter(negative="--no-prune")] = True,
    keep_all: Annotated[bool, Parameter(negative=())] = False,
    config: Path | None = None,
    changes: Annotated[
        tuple[str, ...], Parameter(name="--set", negative=(), consume_multiple=False)
    ] = (),
) -> int:
    """Search for the settings with the lowest validation error; needs the extra "tune".

    The search can be stopped or killed at any moment: the same command goes on with it. Writes the
    best run, its settings, a page and a picture into the folder.

    Parameters
    ----------
    data
        Data file: .nc, .zarr or .npz.
    output
        Folder of the search: a new one, or one to go on with.
    trials
        Trainings in all, those of earlier starts included.
    model
        Any trained model that pgode models lists.
    preset
        Preset to start from; chosen by the data, as pgode train does, if not given.
    space
        YAML file of settings and the values to try, in place of the default space.
    list_space
        List the settings that would be varied, and do nothing else.
    epochs
        Most epochs of a trial; those of the preset if not given.
    horizon
        Frames to forecast in training.
    seed
        Seed of the search and of every training.
    jobs
        Concurrent trials, each with one thread. With one, a seed gives the same search again.
    engine
        local processes, or ray (needs the extra "ray").
    prune
        Stop trials whose validation error is above the median; --no-prune trains all to the end.
    keep_all
        Keep the weights of all trials, not only those of the best.
    config
        YAML file with settings that all trials share.
    changes
        A single setting that all trials share, such as --set window.condition=8; can be repeated.
    """
    from pgode.cli.terminal import output as terminal
    from pgode.runtime.errors import InputError
    from pgode.runtime.stopping.kept import on_stop
    from pgode.runtime.terminal.console import Terminal
    from pgode.training.config import parse_changes
    from pgode.tuning.output.best import SETTINGS
    from pgode.tuning.output.files import PAGE
    from pgode.tuning.output.sentences import counted, verdict
    from pgode.tuning.output.terminal import best_table, importance_table
    from pgode.tuning.preview import space_tables

    settings = parse_changes(list(changes))
    console = terminal()
    if list_space:
        for table in space_tables(data, model, preset, space, config, settings, force):
            console.print(table)
        return 0
    if data is None or output is None:
        raise InputError(
            "a search needs a data file and a folder. Expected: pgode tune DATA -o FOLDER. To see "
            "what it would vary: pgode tune --list-space."
        )
    on_stop(
        lambda: (
            f"Stopped: trials that have ended are kept in {output}. Run the same command to go on."
            if output.exists()
            else ""
        )
    )
    from pgode.tuning.api import TuningStopped
    from pgode.tuning.api import tune as search

    progress = Terminal(stderr=True)
    try:
        tuning = search(
            data,
            output,
            force=force,
            trials=trials,
            model=model,
            preset=preset,
            space=space,
            epochs=epochs,
            horizon=horizon,
            seed=seed,
            jobs=jobs,
            engine=engine,
            prune=prune,
            keep_all=keep_all,
            config=config,
            settings=settings,
            console=progress,
            on_note=lambda text: progress.print(text, soft_wrap=True, markup=False),
        )
    except TuningStopped as stopped:
        told = f"Stopped: {stopped}. Run the same command to go on."
        on_stop(lambda: told)
        raise
    console.print(best_table(tuning))
    mattered = importance_table(tuning)
    if mattered is not None:
        console.print(mattered)
    for line in (
        f"{counted(tuning)}. {verdict(tuning)}",
        f"Best run: {tuning.best_folder}. Next: pgode evaluate {tuning.best_folder}",
        f"Page: {output / PAGE}. Settings for pgode train --config: {output / SETTINGS}",
    ):
        console.print(line, markup=False, soft_wrap=True)
    for index, reason in tuning.lost.items():
        progress.print(f"no result: trial {index}: {reason}", style="red", soft_wrap=True)
    return 1 if tuning.lost else 0
