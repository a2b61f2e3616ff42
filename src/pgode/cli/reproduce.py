"""`pgode reproduce`: the paper's tables with our numbers."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def reproduce(
    names: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    /,
    *,
    list_: Annotated[bool, Parameter("--list", negative=())] = False,
    show: Annotated[bool, Parameter(negative=())] = False,
    datasets: str | None = None,
    models: str | None = None,
    seeds: int | None = None,
    jobs: int = 2,
    budget: str = "quick",
    per_length: Annotated[bool, Parameter(negative=())] = False,
    preset: str = "",
    engine: str = "local",
    folder: Annotated[Path, Parameter(("--folder", "-o"))] = Path("reproduction"),
) -> int:
    """Reproduce tables and figures of the paper, ours beside the published numbers.

    A grid of trainings that can be stopped at any moment and started again: finished ones are
    kept, an interrupted one continues. Proteins are simulated first, which takes hours and needs
    the extra "md". Writes NAME.md, NAME.json and NAME.html.

    Parameters
    ----------
    names
        Tables and figures, such as table1; "all" for every one. See --list.
    list_
        List what can be reproduced.
    show
        Print and write the numbers so far, without training.
    datasets
        Only these, such as springs,charged or 5awl.
    models
        Only these, such as pgode,hope.
    seeds
        Trainings of each cell; if not given, as many as the budget has.
    jobs
        Trainings, or simulations of a protein, at the same time; each training gets its share of
        the cores.
    budget
        quick, paper, or smoke.
    per_length
        Train one model per horizon, as the paper did, instead of one at the longest.
    preset
        Use this preset for every PGODE row.
    engine
        local processes, or ray (needs the extra "ray").
    folder
        Where data, runs, results and tables go.
    """
    from rich.console import Console

    from pgode.reproduce.plan.selection import Selection
    from pgode.reproduce.reproduction import overview, reproduce_all

    console = Console()
    if list_ or not names:
        console.print(overview())
        return 0
    selection = Selection(budget, _names(datasets), _names(models), seeds, per_length, preset)
    return reproduce_all(
        names, selection, folder, jobs=jobs, engine=engine, show=show, console=console
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()
