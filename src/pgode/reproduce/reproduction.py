"""`pgode reproduce` from names to tables on disk."""

from collections.abc import Container, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from pgode.batches.devices import AUTO, chosen_device
from pgode.reports.base.page import is_page
from pgode.reproduce.output import drawing
from pgode.reproduce.output.collect import collect, filled_rows
from pgode.reproduce.output.content import TableContent
from pgode.reproduce.output.rendering import markdown, page, terminal
from pgode.reproduce.plan.selection import (
    Selection,
    check_names,
    find_experiment,
    select,
    select_if_possible,
)
from pgode.reproduce.runner.cost import THREADS, measure_cost, read_cost, timed_rows
from pgode.reproduce.runner.grid import run_grid
from pgode.reproduce.tables.catalogue import EXPERIMENTS, Experiment
from pgode.runtime.choices import check_int
from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_json, write_text
from pgode.runtime.limits.bounds import WORKERS
from pgode.runtime.outputs import claim_folder
from pgode.training.presets import presets_of


def overview(selection: Selection, root: Path) -> Table:
    """All selected tables and figures, and how much of them is in a folder."""
    _check_preset(selection.preset)
    name = Column("name", no_wrap=True)  # Users type the names, so they are shown in full.
    filled = Column("filled", no_wrap=True)
    table = Table(name, filled, "what", "data sets", box=None, pad_edge=False)
    for each in _experiments(["all"], selection):
        done, wanted = filled_rows(each, selection, root)
        share = f"all {wanted} rows" if done == wanted else f"{done} of {wanted} rows"
        table.add_row(each.name, share, each.title, ", ".join(each.datasets))
    return table


def reproduce_all(
    names: Sequence[str],
    selection: Selection,
    root: Path,
    *,
    jobs: int,
    engine: str,
    device: str,
    show: bool,
    console: Console,
) -> int:
    """Train what is missing and write the named experiments; 1 if a training failed, else 0."""
    experiments = _experiments(names, selection)
    _check(selection, jobs, engine, device)
    claim_folder(root, begun=_is_reproduction)
    for each in experiments:
        _check_tables(root / each.name)
    failures: dict[str, str] = {}
    if not show:
        trained = [each for each in experiments if each.kind != "cost"]
        failures = run_grid(
            trained, selection, root, jobs=jobs, engine=engine, device=device, console=console
        )
        for each in experiments:
            if each.kind == "cost" or each.timed:
                _measure(each, selection.budget, root, console, without=failures)
    for each in experiments:
        _write(each, selection, root, console)
    for trial, reason in failures.items():
        console.print(f"no result: {trial}: {reason}", style="red", highlight=False, soft_wrap=True)
    return 1 if failures else 0


def _experiments(names: Sequence[str], selection: Selection) -> list[Experiment]:
    """The selected parts; with "all", experiments without any are left out."""
    if "all" not in names:
        return [select(find_experiment(name), selection) for name in dict.fromkeys(names)]
    check_names(selection)
    parts = [select_if_possible(each, selection) for each in EXPERIMENTS.values()]
    return [each for each in parts if each is not None]


def _check(selection: Selection, jobs: int, engine: str, device: str) -> None:
    check_int("--jobs", jobs, 1, WORKERS)
    if engine not in ENGINES:
        raise InputError(
            f'--engine is "{engine}". Expected one of {", ".join(ENGINES)}. Leave it out for local '
            f"processes."
        )
    if engine == "ray" and device not in (AUTO, "cpu"):
        raise InputError(
            f"--device {device} does not go with --engine ray, whose tasks ask for CPUs alone. "
            f"Expected auto or cpu. Leave --device out, or --engine."
        )
    chosen_device(device)
    _check_preset(selection.preset)


def _check_preset(preset: str) -> None:
    presets = presets_of("pgode")
    if preset and preset not in presets:
        raise InputError(
            f'--preset is "{preset}", which PGODE does not have. Expected one of '
            f"{', '.join(presets)}. Leave it out for the usual choice."
        )


def _is_reproduction(folder: Path) -> bool:
    """Whether a folder is one of this command: with data, trainings, results or tables."""
    parts = any((folder / name).is_dir() for name in ("data", "runs", "results", "logs"))
    return parts or any(map(is_page, folder.glob("*.html")))


def _check_tables(target: Path) -> None:
    """Refuse to replace tables that were not written here: ours have a page of pgode beside."""
    if is_page(target.with_suffix(".html")):
        return
    for suffix in (".html", ".md", ".json"):
        if target.with_suffix(suffix).exists():
            raise InputError(
                f"cannot write {target.with_suffix(suffix)}: it exists, pgode reproduce did not "
                f"write it, and it is kept. Expected a folder of pgode reproduce. Choose another "
                f"with --folder, or move the file away."
            )


def _measure(
    experiment: Experiment, budget: str, root: Path, console: Console, without: Container[str]
) -> None:
    """Time the rows on every data set that is not among those that could not be made."""
    for dataset in (name for name in experiment.datasets if name not in without):
        known = read_cost(experiment, dataset, budget, root)
        names = timed_rows(experiment).keys()
        if known is None or known.threads != THREADS or not names <= known.rows.keys():
            with console.status("timing") as status:
                measure_cost(experiment, dataset, budget, root, status.update)


def _write(experiment: Experiment, selection: Selection, root: Path, console: Console) -> None:
    content = collect(experiment, selection, root)
    figures: list[str] = []
    if experiment.kind == "curves" and isinstance(content, TableContent):
        figures = drawing.curves(content)
    if experiment.kind == "pictures":
        figures = drawing.pictures(experiment, selection, root)
    target = root / experiment.name
    # The page is first: beside it the other files are known to be ours, see `_check_tables`.
    write_text(target.with_suffix(".html"), page(content, figures))
    write_text(target.with_suffix(".md"), markdown(content))
    write_json(target.with_suffix(".json"), content.to_json())
    for number, figure in enumerate(figures):
        suffix = f"-{experiment.datasets[number]}.svg" if len(figures) > 1 else ".svg"
        write_text(root / f"{experiment.name}{suffix}", figure)
    for table in terminal(content):
        console.print(table)
    console.print(f"wrote {target}.md, .json, .html", highlight=False, soft_wrap=True)
