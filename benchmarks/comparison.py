"""The page docs/comparison.md: every table that `pgode reproduce` has filled, and what they say.

python -m benchmarks.comparison keep reproduction   # copy a grid's finished results into the tree
python -m benchmarks.comparison write               # results in the tree -> docs/comparison.md
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from pgode.experiments.catalogue import EXPERIMENTS
from pgode.experiments.content import content
from pgode.experiments.drawing import curves
from pgode.experiments.plan import Choice
from pgode.experiments.rendering import markdown
from pgode.files import write_text

KEPT = Path("benchmarks/results/reproduce")
PAGE = Path("docs/comparison.md")
PICTURES = Path("docs/pictures")
BUDGET = "quick"

INTRODUCTION = """# Every model beside the paper

<!-- Written by `python -m benchmarks.comparison write`. Change that file, not this page. -->

What `pgode reproduce --budget quick` gave: ten epochs over the paper's 1000 systems for every
model, one seed. [Reproducing the paper](reproduce.md) says what is kept equal. The results behind
the tables are in `benchmarks/results/reproduce`; this prints them:

```
pgode reproduce table1 --show -o benchmarks/results/reproduce
```

A dash is a number that has not been run yet.
"""


def keep(folder: Path) -> int:
    """Copy the finished results of a grid; runs and data stay where they are."""
    target = KEPT / "results"
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((folder / "results").glob("*.json")):
        shutil.copy(path, target / path.name)
    for picture in sorted(folder.glob("figure2*.svg")):
        PICTURES.mkdir(exist_ok=True)
        shutil.copy(picture, PICTURES / picture.name)
    return 0


def write() -> int:
    """Render every experiment that has at least one number of ours."""
    parts = [INTRODUCTION, READING]
    for experiment in EXPERIMENTS.values():
        found = content(experiment, Choice(BUDGET), KEPT)
        if experiment.kind == "pictures" or not _filled(found):
            continue
        parts.append(markdown(found))
        for number, figure in enumerate(curves(found) if experiment.axis else []):
            name = f"{experiment.name}-{experiment.datasets[number]}.svg"
            PICTURES.mkdir(exist_ok=True)
            write_text(PICTURES / name, figure)
            parts.append(f"![{experiment.title}, {experiment.datasets[number]}](pictures/{name})\n")
    for picture in sorted(PICTURES.glob("figure2*.svg")):
        parts.append(f"## {EXPERIMENTS['figure2'].title} (figure2)\n")
        parts.append("Observed frames are faint, forecasts and truth solid; a dot is the end.\n")
        parts.append(f"![Trajectories of three methods](pictures/{picture.name})\n")
    write_text(PAGE, "\n".join(parts))
    return 0


def _filled(found: dict[str, Any]) -> bool:
    numbers = ["seconds" if found["kind"] == "cost" else "cells"]
    for row in found["rows"]:
        value = row.get(numbers[0])
        if isinstance(value, list):
            if any(cell["ours"] is not None for cell in value) and row["model"] not in (
                "last-value",
                "constant-velocity",
            ):
                return True
        elif value is not None:
            return True
    return False


READING = """## What they say

"""


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("keep").add_argument("folder", type=Path)
    commands.add_parser("write")
    given = parser.parse_args()
    return keep(given.folder) if given.command == "keep" else write()


if __name__ == "__main__":
    sys.exit(main())
