"""The work behind `pgode reproduce`, from names to tables on disk."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Column, Table

from pgode.reproduce.output import drawing
from pgode.reproduce.output.collect import content
from pgode.reproduce.output.rendering import markdown, page, terminal
from pgode.reproduce.plan.choice import Choice, find_experiment, narrowed
from pgode.reproduce.plan.cost import cost_file, measure_cost
from pgode.reproduce.runner.engines import ENGINES
from pgode.reproduce.runner.grid import fill
from pgode.reproduce.tables.catalogue import EXPERIMENTS, Experiment
from pgode.runtime.errors import InputError
from pgode.runtime.files import writable_folder, write_json, write_text
from pgode.training.presets import presets_of


def overview() -> Table:
    """Everything there is to reproduce."""
    name = Column("name", no_wrap=True)  # Names are typed again, so they are shown in full.
    table = Table(name, "what", "data sets", "rows", box=None, pad_edge=False)
    for each in EXPERIMENTS.values():
        labels = ", ".join(row.label.replace("`", "") for row in each.rows)
        table.add_row(each.name, each.title, ", ".join(each.datasets), labels)
    return table


def reproduce_all(
    names: Sequence[str],
    choice: Choice,
    root: Path,
    *,
    jobs: int,
    engine: str,
    show: bool,
    console: Console,
) -> int:
    """Fill and write the named experiments; 1 if a training failed, else 0."""
    wanted = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    chosen = [_chosen(find_experiment(name), choice, lenient="all" in names) for name in wanted]
    experiments = [each for each in chosen if each.rows and each.datasets]
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}. Expected at least 1. Give for instance 2.")
    if engine not in ENGINES:
        raise InputError(
            f'--engine is "{engine}". Expected one of {", ".join(ENGINES)}. Leave it out for local '
            f"processes."
        )
    if choice.preset and choice.preset not in presets_of("pgode"):
        raise InputError(
            f'--preset is "{choice.preset}", which PGODE does not have. Expected one of '
            f"{', '.join(presets_of('pgode'))}. Leave it out for the usual choice."
        )
    writable_folder(root / "results" / "x")
    failures: dict[str, str] = {}
    if not show:
        trained = [each for each in experiments if each.kind != "cost"]
        failures = fill(trained, choice, root, jobs=jobs, engine=engine, console=console)
        for each in experiments:
            if each.kind == "cost":
                _measure(each, choice, root, console)
    for each in experiments:
        _write(each, choice, root, console)
    for what, reason in failures.items():
        console.print(f"no number: {what}: {reason}", style="red", highlight=False, soft_wrap=True)
    return 1 if failures else 0


def _chosen(experiment: Experiment, choice: Choice, *, lenient: bool) -> Experiment:
    """With "all", a table that lacks a chosen data set or model is left out, not an error."""
    if not lenient:
        return narrowed(experiment, choice)
    models = tuple(row.model for row in experiment.rows if row.model in choice.models)
    datasets = tuple(name for name in experiment.datasets if name in choice.datasets)
    if (choice.models and not models) or (choice.datasets and not datasets):
        return Experiment(experiment.name, experiment.kind, experiment.title, (), ())
    kept = Choice(choice.budget, datasets, models, choice.seeds, choice.per_length, choice.preset)
    return narrowed(experiment, kept)


def _measure(experiment: Experiment, choice: Choice, root: Path, console: Console) -> None:
    for dataset in experiment.datasets:
        if not cost_file(dataset, choice.budget, root).exists():
            with console.status("timing") as status:
                measure_cost(experiment, dataset, choice.budget, root, status.update)


def _write(experiment: Experiment, choice: Choice, root: Path, console: Console) -> None:
    found = content(experiment, choice, root)
    figures: list[str] = []
    if experiment.kind == "curves":
        figures = drawing.curves(found)
    if experiment.kind == "pictures":
        figures = drawing.pictures(experiment, choice, root)
    target = root / experiment.name
    write_json(target.with_suffix(".json"), found)
    write_text(target.with_suffix(".md"), markdown(found))
    write_text(target.with_suffix(".html"), page(found, figures))
    for number, figure in enumerate(figures):
        suffix = f"-{experiment.datasets[number]}.svg" if len(figures) > 1 else ".svg"
        write_text(root / f"{experiment.name}{suffix}", figure)
    for table in terminal(found):
        console.print(table)
    console.print(f"wrote {target}.md, .json, .html", highlight=False, soft_wrap=True)
