"""`pgode robustness`: how a perturbed initial state spreads through the forecasts of runs."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from pgode.runs.run import Run


def robustness(
    *runs: str,
    data: Path | None = None,
    split: str = "test",
    magnitudes: Annotated[str, Parameter(allow_leading_hyphen=True)] = "0.001,0.01,0.1",
    horizon: int = 36,
    draws: int = 4,
    seed: int = 0,
    perturb: Literal["state", "observed"] = "state",
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("robustness.html"),
    json: Path | None = None,
) -> None:
    """Perturb the initial states of forecasts and follow how the difference grows.

    Beside the growth stand empirical Lipschitz constants of the right-hand side and of each
    prototype, and the bound of Theorem 3.1. Give a run with one prototype and one with several.

    Parameters
    ----------
    runs
        Run folders, or shipped models by name (springs-10).
    data
        Data file; the one the first run was trained on if not given.
    split
        train, val, test or ood.
    magnitudes
        Norms of the perturbation of each object, in scaled units, such as 0.001,0.01,0.1.
    horizon
        Frames to forecast.
    draws
        Random directions for each magnitude.
    seed
        Fixes the directions.
    perturb
        state (what a PGODE integrates; for other models the last observed frame), or observed (the
        last observed frame for every model).
    output
        HTML file to write.
    json
        File for the full result.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress

    from pgode.cli.parsing import numbers
    from pgode.data import files
    from pgode.evaluation.robustness.measurement import robustness as measure
    from pgode.evaluation.robustness.perturbation import Perturbations
    from pgode.evaluation.robustness.perturbation_growth import comparisons
    from pgode.reports.robustness.findings import (
        bound_table,
        comparison_table,
        growth_table,
        verdicts,
    )
    from pgode.reports.robustness.page import write_robustness
    from pgode.runs.folder import source_of
    from pgode.runs.run import Run
    from pgode.runtime.files import writable_file, write_json

    if not runs:
        raise InputError(
            "no run was given. Expected at least one run folder: pgode robustness RUN [RUN ...]. "
            "Name one, or train one with pgode train."
        )
    sizes = tuple(numbers(magnitudes, "--magnitudes"))
    asked = Perturbations(sizes, horizon, draws, seed, perturb == "observed")
    for path in (output, *((json,) if json is not None else ())):
        writable_file(path)
    if json is not None and json.resolve() == output.resolve():
        raise InputError(
            f"the page and the numbers cannot both be written to {json}. Expected two files. Give "
            f"--json or --output another name."
        )
    opened = [Run.open(run) for run in runs]
    names = _names(runs, opened)
    source = data or source_of(runs[0])
    read = files.read(source)
    given = [
        each.conform(read, f"{source} (for the run {run})").split_of(split)
        for run, each in zip(runs, opened, strict=True)
    ]
    console = Console()
    found = []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        for run, each, own, name in zip(runs, opened, given, names, strict=True):
            hear = partial(_hear, bar, bar.add_task(escape(run), total=1.0))
            measured = measure(each.model, own, each.config.window.condition, asked, hear)
            found.append({"name": name, "run": run, "model": each.config.name, **measured})
    result = {
        "data": str(source),
        "data_hash": read.hash,
        "split": split,
        "systems": given[0].systems,
        "horizon": horizon,
        "horizons": asked.horizons,
        "magnitudes": list(sizes),
        "draws": draws,
        "seed": seed,
        "runs": found,
        "comparisons": comparisons(found),
    }
    for table in (growth_table(result), bound_table(result), comparison_table(result)):
        if table is not None:
            console.print(table)
    for verdict in verdicts(result):
        console.print(verdict.text, highlight=False, markup=False)
    write_robustness(result, output)
    console.print(f"wrote {output}", highlight=False, markup=False, soft_wrap=True)
    if json is not None:
        write_json(json, result)
        console.print(f"wrote {json}", highlight=False, markup=False, soft_wrap=True)


def _names(runs: Sequence[str], opened: Sequence["Run"]) -> list[str]:
    """Each run by the name of its folder; by what the user gave where two folders share one."""
    folders = [each.folder.resolve() for each in opened]
    for run, folder in zip(runs, folders, strict=True):
        if folders.count(folder) > 1:
            raise InputError(
                f"the run {run} was given twice. Expected each run once. Leave it out once."
            )
    shared = [folder.name for folder in folders]
    return [
        folder.name if shared.count(folder.name) == 1 else run
        for run, folder in zip(runs, folders, strict=True)
    ]


def _hear(bar: "Progress", task: "TaskID", share: float) -> None:
    bar.update(task, completed=share)
