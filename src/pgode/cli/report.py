"""`pgode report`: an HTML page about a run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import (
    Device,
    Force,
    OptionalOutput,
    Overwrite,
    RunData,
    RunName,
    SampleSeed,
)


def report(
    run: RunName,
    *,
    data: RunData = None,
    force: Force = False,
    output: OptionalOutput = None,
    horizons: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    examples: int = 6,
    samples: int = 20,
    seed: SampleSeed = 0,
    device: Device = "auto",
    overwrite: Overwrite = False,
) -> None:
    """Write a self-contained HTML report of a run: errors, trajectories, player, training.

    Parameters
    ----------
    output
        File to write; report.html in the run folder if not given (for a shipped model, its name
        with .html in the current folder).
    horizons
        Scored numbers of frames, such as 6,12; the longest is also what the pictures show. If not
        given, the trained horizon and the multiples of 12 below it.
    examples
        Systems of each split to show; of a few long series, windows along them.
    samples
        Number of sampled forecasts for the intervals.
    """
    from pgode.cli.parsing import whole_numbers
    from pgode.data import files
    from pgode.runs.folder import find_run, is_shipped, source_of
    from pgode.runs.outputs import REPORT, check_report
    from pgode.runs.report import write_run_report
    from pgode.runs.run import Run
    from pgode.runtime.terminal.console import Terminal

    scored = whole_numbers(horizons, "--horizons") if horizons is not None else None
    folder = find_run(run)
    target = output or (Path(f"{run}.html") if is_shipped(folder) else folder / REPORT)
    check_report(run, target, inputs=[data], overwrite=overwrite)
    opened = Run.open(run, device)
    source = data or source_of(run)
    console = Terminal()
    with console.status("forecasting and drawing"):
        write_run_report(
            opened,
            files.read(source, force=force),
            target,
            examples=examples,
            samples=samples,
            seed=seed,
            horizons=scored,
            overwrite=overwrite,
        )
    console.print(f"wrote {target.resolve()}", highlight=False, soft_wrap=True)
