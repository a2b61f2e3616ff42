"""`pgode reproduce`: the paper's tables with our numbers."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgode.cli.parameters import Device, Overwrite


def reproduce(
    names: Annotated[tuple[str, ...], Parameter(negative=())] = (),
    /,
    *,
    list_: Annotated[bool, Parameter("--list", negative=())] = False,
    show: Annotated[bool, Parameter(negative=())] = False,
    export: Path | None = None,
    datasets: str | None = None,
    models: str | None = None,
    seeds: int | None = None,
    jobs: int = 2,
    budget: str = "quick",
    per_length: Annotated[bool, Parameter(negative=())] = False,
    preset: str = "",
    engine: str = "local",
    device: Device = "auto",
    folder: Annotated[Path, Parameter(("--folder", "-o"))] = Path("reproduction"),
    overwrite: Overwrite = False,
) -> int:
    """Reproduce tables and figures of the paper, ours beside the published numbers.

    The grid of trainings can be stopped at any moment and started again: finished trainings are
    kept, an interrupted one continues. Proteins are simulated first, which takes hours and needs
    the extra "md". Writes NAME.md, NAME.json and NAME.html.

    Parameters
    ----------
    names
        Tables and figures, such as table1, or all. See --list.
    list_
        List the tables and figures, and how many of their rows the folder has.
    show
        Print and write the results so far; train nothing.
    export
        Write every result of the folder to this CSV or Parquet file, a row for each number; train
        nothing.
    datasets
        Only these, such as springs,charged or 5awl.
    models
        Only these, such as pgode,hope.
    seeds
        Trainings of each cell; by default those of the budget.
    jobs
        Concurrent trainings, or simulations of a protein; each training gets its share of the
        cores.
    budget
        quick, paper, or smoke.
    per_length
        Train one model per horizon, as the paper did, instead of one at the longest horizon.
    preset
        Use this preset for every PGODE row.
    engine
        local processes, or ray (needs the extra "ray").
    folder
        Folder for data, runs, results and tables.
    """
    from pgode.reproduce.output.export import export_results
    from pgode.reproduce.plan.selection import Selection
    from pgode.reproduce.reproduction import overview, reproduce_all
    from pgode.runtime.outputs import claim_outputs
    from pgode.runtime.stopping.kept import on_stop
    from pgode.runtime.terminal.console import Terminal

    console = Terminal()
    claim_outputs([export], inputs=[folder / "results"], overwrite=overwrite)
    if export is not None:
        rows = export_results(folder, export, overwrite=overwrite)
        console.print(f"wrote {export} with {rows:,} rows", highlight=False, soft_wrap=True)
        return 0
    selection = Selection(budget, _names(datasets), _names(models), seeds, per_length, preset)
    if list_ or not names:
        console.print(overview(selection, folder))
        return 0
    told = f"Stopped: all that is finished is kept in {folder}. Run the same command to go on."
    on_stop(lambda: told if folder.exists() else "")
    return reproduce_all(
        *(names, selection, folder),
        jobs=jobs,
        engine=engine,
        device=device,
        show=show,
        console=console,
    )


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()
