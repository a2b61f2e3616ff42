"""`pgode report`: one HTML page about a run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def report(
    run: str,
    *,
    data: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    examples: int = 6,
    samples: int = 20,
    seed: int = 0,
) -> None:
    """Write a self-contained HTML report of a run: errors, trajectories, player, training.

    Parameters
    ----------
    run
        Run folder, or a shipped model by name (springs-10).
    data
        Data file; the one the run was trained on if not given.
    output
        File to write; report.html in the run folder if not given (here for a shipped model).
    examples
        Systems of each split to show.
    samples
        Sampled forecasts behind the intervals.
    seed
        Fixes the samples.
    """
    from rich.console import Console

    from pgode.data import files
    from pgode.runs.folder import PRETRAINED, source_of
    from pgode.runs.report import write_run_report
    from pgode.runs.run import Run
    from pgode.runtime.files import writable_file

    opened = Run.open(run)
    shipped = opened.folder.parent == PRETRAINED
    target = output or (Path(f"{run}.html") if shipped else opened.folder / "report.html")
    writable_file(target)
    source = data or source_of(run)
    console = Console()
    with console.status("forecasting and drawing"):
        write_run_report(
            opened, files.read(source), target, examples=examples, samples=samples, seed=seed
        )
    console.print(f"wrote {target.resolve()}", highlight=False, soft_wrap=True)
