"""The page docs/comparison.md: the tables that `pgode reproduce` has filled, and what they say.

What they say is written by hand in benchmarks/readings, a file for each table.

python -m benchmarks.comparison keep reproduction   # copy a grid's finished results into the tree
python -m benchmarks.comparison write               # results in the tree -> docs/comparison.md
"""

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from pgode.reproduce.output.collect import collect
from pgode.reproduce.output.content import Content, TableContent
from pgode.reproduce.output.drawing import curves
from pgode.reproduce.output.rendering import markdown
from pgode.reproduce.plan.results import all_results
from pgode.reproduce.plan.selection import Selection, combinations, full_trials, tuning_trials
from pgode.reproduce.tables.catalogue import EXPERIMENTS, Experiment
from pgode.runtime.files import write_text

KEPT = Path("benchmarks/results/reproduce")
READINGS = Path("benchmarks/readings")
PAGE = Path("docs/comparison.md")
PICTURES = Path("docs/pictures")
BUDGET = "quick"
SEEDS = 3
"""At most; a row shows as many as were run."""

INTRODUCTION = """# Every model beside the paper

<!-- Written by `python -m benchmarks.comparison write`. Change that file, not this page. -->

The results of `pgode reproduce --budget quick`: ten epochs over the paper's 1000 systems, or 200
samples of a protein, for every model. [Reproducing the paper](reproduce.md) says what is kept
equal. The numbers are stored in `benchmarks/results/reproduce`; this prints a table of them:

```
pgode reproduce table1 --show -o benchmarks/results/reproduce
```

A dash marks a training that has not been run yet; "diverged" one whose loss was not finite at any
learning rate.

Proteins are superposed: where they also drift and tumble (`table2-raw`, which the paper does not
have), the presets of today have not been trained yet.
"""


def keep(folder: Path) -> int:
    """Copy the finished results of a grid; runs and data stay where they are."""
    target = KEPT / "results"
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((folder / "results").glob("*.json")):
        shutil.copy(path, target / path.name)
    for picture in sorted(folder.glob("figure[23]*.svg")):
        PICTURES.mkdir(exist_ok=True)
        shutil.copy(picture, PICTURES / picture.name)
    return 0


def write() -> int:
    """Render every experiment that has at least one number of ours."""
    claims = (READINGS / "claims.md").read_text(encoding="utf-8")
    sections: list[str] = []
    missing: list[str] = []
    for experiment in EXPERIMENTS.values():
        if experiment.kind == "pictures":
            sections += _pictures(experiment)
            continue
        content = collect(experiment, Selection(BUDGET, seeds=SEEDS), KEPT)
        filled = [name for name in experiment.datasets if _filled(content, name)]
        without = [name for name in experiment.datasets if name not in filled]
        if without:
            missing.append(f"`{experiment.name}` ({', '.join(without)})")
        if not filled:
            continue
        content = _only(content, filled)
        sections.append(_with_reading(markdown(content), experiment.name))
        for number, figure in enumerate(_figures(content)):
            name = f"{experiment.name}-{filled[number]}.svg"
            PICTURES.mkdir(exist_ok=True)
            write_text(PICTURES / name, figure)
            sections.append(f"![{experiment.title}, {filled[number]}](pictures/{name})\n")
    parts = [INTRODUCTION, *_not_shown(missing), f"{_time_taken()}\n", claims, *sections]
    write_text(PAGE, "\n".join(parts))
    return 0


def _not_shown(missing: list[str]) -> list[str]:
    """What a reader would look for in vain."""
    if not missing:
        return []
    return [f"Not shown, since fewer than half of the rows are trained: {', '.join(missing)}.\n"]


def _trial_names() -> set[str]:
    """The names of all trials that today's tables are made of, finished or not."""
    selection = Selection(BUDGET, seeds=SEEDS)
    names: set[str] = set()
    for experiment in EXPERIMENTS.values():
        for each in combinations(experiment):
            full = full_trials(each, experiment, selection, KEPT) or {}
            groups = (tuning_trials(each, selection), *full.values())
            names |= {trial.key for group in groups for trial in group}
    return names


def _time_taken() -> str:
    """What the trainings of the tables took in all; results of earlier presets are left out."""
    used = _trial_names()
    hours: dict[str, float] = {}
    for key, result in all_results(KEPT).items():
        if key in used:
            name = result.trial.dataset
            hours[name] = hours.get(name, 0.0) + result.seconds_per_epoch * result.epochs / 3600
    by_data = ", ".join(f"{name} {hours[name]:.1f}" for name in sorted(hours))
    return (
        f"The trainings of this page, those that choose a learning rate included, took "
        f"{sum(hours.values()):.0f} hours of one core beside other work ({by_data}); the molecular "
        f"dynamics of both proteins takes about five more."
    )


def _pictures(experiment: Experiment) -> list[str]:
    """The section of a figure that is kept as it was drawn; empty if it was not."""
    found = sorted(PICTURES.glob(f"{experiment.name}*.svg"))
    heading = f"## {experiment.title} ({experiment.name})\n"
    shown = [f"![{experiment.title}](pictures/{each.name})\n" for each in found]
    return [_with_reading(heading, experiment.name), *shown] if found else []


def _with_reading(table: str, name: str) -> str:
    """What a table says, between its heading and its numbers."""
    reading = READINGS / f"{name}.md"
    if not reading.exists():
        return table
    heading, rest = table.split("\n", 1)
    return f"{heading}\n\n{reading.read_text(encoding='utf-8').rstrip()}\n{rest}"


def _filled(content: Content, dataset: str) -> bool:
    """Whether at least half of the trained rows have numbers on a data set."""
    if isinstance(content, TableContent):
        trained = [row for row in content.rows_of(dataset) if row.role == "model"]
        known = [any(cell.ours is not None for cell in row.cells) for row in trained]
    else:
        known = [row.seconds is not None for row in content.rows_of(dataset)]
    return sum(known) >= len(known) / 2


def _only(content: Content, datasets: list[str]) -> Content:
    """The content of these data sets alone."""
    if isinstance(content, TableContent):
        kept = tuple(row for row in content.rows if row.dataset in datasets)
        return replace(content, rows=kept)
    return replace(content, rows=tuple(row for row in content.rows if row.dataset in datasets))


def _figures(content: Content) -> list[str]:
    return curves(content) if isinstance(content, TableContent) and content.axis else []


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("keep").add_argument("folder", type=Path)
    commands.add_parser("write")
    arguments = parser.parse_args()
    return keep(arguments.folder) if arguments.command == "keep" else write()


if __name__ == "__main__":
    sys.exit(main())
