"""`pgode train`: train a model, or resume its training."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Device, Force, OptionalOutput

REASONS = {
    "molecules": "the data describe a molecule",
    "messages": "the data name no positions with velocities, or no edges, or have known inputs, or "
    "settings are those of networks",
}
"""Why a preset was chosen that was not named."""


def train(
    data: Path | None = None,
    *,
    force: Force = False,
    output: OptionalOutput = None,
    model: str | None = None,
    preset: str | None = None,
    horizon: int | None = None,
    epochs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    processes: int | None = None,
    config: Path | None = None,
    changes: Annotated[
        tuple[str, ...], Parameter(name="--set", negative=(), consume_multiple=False)
    ] = (),
    start: Annotated[str | None, Parameter(name="--from")] = None,
    refit_scales: Annotated[bool | None, Parameter(negative="--keep-scales")] = None,
    resume: Path | None = None,
    device: Device = "auto",
) -> int:
    """Train a model on a data file, or resume a run that was stopped.

    An interrupt (Ctrl-C) saves the run; --resume continues it to the same numbers.

    Parameters
    ----------
    data
        Data file: .nc, .zarr or .npz. With --resume, only if the file has moved.
    output
        New run folder.
    model
        Any model that pgode models lists; pgode if not given.
    preset
        default (prototypes are force laws, found in the data), messages (prototypes are networks
        that pass messages), paper (as close to the published model as settings allow),
        paper-anchored (paper, from the last observation) or molecules (messages at a seventh of
        the cost). If not given: molecules for data of atoms, default for data that name positions
        and velocities, otherwise messages.
    horizon
        Frames to forecast in training.
    epochs
        Passes over the training systems. Force laws alone take none.
    seed
        Seed of the initial weights, the order of systems and all draws.
    threads
        CPU threads; chosen by torch if not given, one where several processes train.
    processes
        Processes that share every batch, each with one thread. If not given, one per core where
        the training is long enough, otherwise one. Under torchrun, all that it starts.
    config
        YAML file with the groups model, window and training.
    changes
        A single setting, such as --set training.batch=8; can be repeated.
    start
        Trained run, or a model that comes with pgode (springs-10), whose weights and settings
        training goes on from.
    refit_scales
        With --from: fit scales to the new data, or keep those of the run. By default whichever
        gives the untouched weights the lower validation error.
    resume
        Run folder to continue.
    """
    from pgode.batches.parallel.peers import LostProcessError
    from pgode.runs import api
    from pgode.runs.folder import gate_warning, source_of
    from pgode.runs.parallel.follower import follow_launched
    from pgode.runs.run import Run
    from pgode.runtime.errors import InputError
    from pgode.runtime.signals import stop_requested
    from pgode.runtime.stopping.kept import on_stop
    from pgode.runtime.terminal.console import Terminal
    from pgode.training.config import parse_changes
    from pgode.training.display import Live
    from pgode.training.parallel.launch import launched

    console = Terminal(soft_wrap=True)
    group = launched()
    if group is not None and group[0] > 0:  # The process of rank 0 reads the other options.
        if not follow_launched(data):
            raise KeyboardInterrupt
        return 0
    if (run := resume or output) is not None:
        saved = f"Stopped; the run is saved. Continue it: pgode train --resume {run}"
        on_stop(lambda: saved if (run / "config.json").exists() else "")
    try:
        if resume is not None:
            others = (output, model, preset, horizon, epochs, seed, threads, config, start)
            if any(other is not None for other in (*others, refit_scales, *changes)):
                raise InputError(
                    "--resume continues a run with its settings and takes no others. Expected "
                    "only --resume RUN (with --device, --processes, and the data file if it has "
                    "moved). Start a new run to change settings."
                )
            file = data or source_of(resume)
            api.resume(
                resume, file, device=device, display=Live(), processes=processes, force=force
            )
            folder = resume
        else:
            if data is None or output is None:
                raise InputError(
                    "a new run needs a data file and an output folder. Expected: pgode train DATA "
                    "-o RUN. To continue a run: pgode train --resume RUN."
                )
            api.train(
                data,
                output,
                force=force,
                model=model,
                preset=preset,
                horizon=horizon,
                epochs=epochs,
                seed=seed,
                threads=threads,
                processes=processes,
                config=config,
                settings=parse_changes(list(changes)),
                device=device,
                start=start,
                refit_scales=refit_scales,
                display=Live(),
                on_preset=lambda name: console.print(f"Using preset {name}: {REASONS[name]}."),
            )
            folder = output
    except LostProcessError:
        if stop_requested():  # The others were asked to stop as well, and one was faster.
            raise KeyboardInterrupt from None
        raise
    found = Run.open(folder, "cpu").model
    for finding in found.findings():
        console.print(f"Found {finding}", highlight=False)
    if epochs is not None and not any(True for _ in found.parameters()):
        console.print("Note: --epochs had no effect; this model is fitted without gradient steps.")
    warning = gate_warning(folder)
    if warning:
        console.print(f"Warning: {warning}", style="yellow")
    console.print(f"Trained {folder}. Next: pgode evaluate {folder}")
    return 0
