"""`pgode reproduce`: fill the paper's tables with our numbers."""

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
    kept, an interrupted one goes on where it was. Proteins are simulated first, which takes hours
    and needs the extra "md". Writes NAME.md, NAME.json and NAME.html.

    Parameters
    ----------
    names
        Tables and figures, such as table1; "all" for every one. See --list.
    list_
        Say what there is to reproduce.
    show
        Print and write what is there so far; train nothing.
    datasets
        Only these, such as springs,charged or 5awl.
    models
        Only these, such as pgode,hope.
    seeds
        Trainings of each cell; the budget's own number if not given.
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

    from pgode.reproduce.plan.choice import Choice
    from pgode.reproduce.reproduction import overview, reproduce_all

    console = Console()
    if list_ or not names:
        console.print(overview())
        return 0
    choice = Choice(budget, _words(datasets), _words(models), seeds, per_length, preset)
    return reproduce_all(
        names, choice, folder, jobs=jobs, engine=engine, show=show, console=console
    )


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",")) if text else ()
