"""Trains the models behind docs/results.md and writes its tables. Takes hours; see `--help`.

python -m benchmarks.accuracy train springs-paper-12   # one run of the list below, resumable
python -m benchmarks.accuracy tables                   # benchmarks/results -> docs/results.md
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.laws_tables import sections
from pgode.evaluation.evaluation import Evaluation, ScoreTable

RESULTS = Path("benchmarks/results")
Cell = tuple[str, int, str]
HORIZONS = (12, 24, 36)
CELLS: list[Cell] = [
    (split, h, v) for split in ("test", "ood") for h in HORIZONS for v in ("q", "v")
]


INTRODUCTION = """# Results

<!-- Written by `python -m benchmarks.accuracy tables`. Change that file, not this page. -->

Mean squared error in scaled units (each variable to [-1, 1] over the training split), averaged
over objects and over the first 12, 24 or 36 forecast frames; 12 observed frames; 1000 training,
200 validation, 200 test (ID) and 200 out-of-distribution (OOD) systems; N-body has 3000, 2000,
2000 and 200. The paper's
numbers are those of its Table 1; its data was drawn with other random numbers and scaled by its
own code, so the last digits of a comparison mean nothing. The naive models "last value" and
"constant velocity" learn nothing. Full evaluations are in `benchmarks/results`.
"""

EARLIER = """## Message prototypes of version 0.2

The tables that follow were made with version 0.2. Its message prototypes had a pull along the line
to each neighbour and an estimated strength, both made by hand for springs, and a gate that
collapsed to one prototype; they are gone. Its `paper` preset had a layer norm in the encoders, a
narrow initial posterior, and information terms of hardly any weight; today's is closer to the
letter and less accurate, see [Where we differ](differences.md#the-deviation-of-the-likelihood). It
was trained with batch 16 and learning rate 1e-3, because the paper's batch of 256 gives four steps
per epoch. One seed: differences of a few per cent between rows mean nothing.
"""


@dataclass(frozen=True)
class Job:
    """One training run: its name, its data, and the options of `pgode train`."""

    name: str
    system: str
    options: tuple[str, ...]


# The paper's batch of 256 gives four steps an epoch, too few for the epochs that fit here.
_SMALLER = ("--set", "training.batch=16", "--set", "training.learning_rate=0.001")
_PAPER = ("--preset", "paper", *_SMALLER)
JOBS = {
    job.name: job
    for job in (
        Job("springs-paper-12", "springs", (*_PAPER, "--horizon", "12", "--epochs", "40")),
        Job("springs-paper-24", "springs", (*_PAPER, "--horizon", "24", "--epochs", "20")),
        Job("springs-paper-36", "springs", (*_PAPER, "--horizon", "36", "--epochs", "12")),
    )
}


def train(name: str, folder: Path, threads: int) -> int:
    """Make the data, train or resume the job, evaluate it, and keep the evaluation."""
    from pgode.cli.app import run_command

    job = JOBS[name]
    data, run = folder / f"{job.system}.nc", folder / name
    if not data.exists() and run_command(["simulate", job.system, "-o", str(data)]):
        return 1
    arguments = ["--resume", str(run)]
    if not (run / "config.json").exists():
        arguments = [str(data), "-o", str(run), *job.options, "--threads", str(threads)]
    if run_command(["train", *arguments]):
        return 1
    return keep(name, run)


def keep(name: str, run: Path) -> int:
    """Evaluate a finished run into benchmarks/results, with the cost of its training."""
    from pgode.data import files
    from pgode.runs.folder import source_of
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json

    opened = Run.open(run)
    evaluation = opened.evaluate(files.read(source_of(run)))
    kept = replace(evaluation, curves={}, curve_low={}, curve_high={})
    epochs = opened.epochs
    cost = {
        "epochs": len(epochs),
        "minutes": round(epochs[-1]["seconds"] / 60, 1),
        "threads": opened.config.training.threads,
    }
    write_json(RESULTS / f"{name}.json", {"cost": cost, "evaluation": kept.to_json()})
    return 0


@dataclass(frozen=True)
class Result:
    """An evaluation in benchmarks/results, and the cost of the training."""

    evaluation: Evaluation
    cost: dict[str, Any]

    @classmethod
    def read(cls, name: str) -> "Result | None":
        """The result of a job; None if it has not been run."""
        path = RESULTS / f"{name}.json"
        if not path.exists():
            return None
        content = json.loads(path.read_text())
        return cls(Evaluation.from_json(content["evaluation"]), content["cost"])


def tables() -> int:
    """Write docs/results.md from benchmarks/results."""
    from pgode.runtime.files import write_text

    parts = [INTRODUCTION, sections(), EARLIER]
    read = {h: Result.read(f"springs-paper-{h}") for h in HORIZONS}
    lengths = {h: result for h, result in read.items() if result is not None}
    if lengths:
        parts.append(_by_length(lengths))
    ablation = RESULTS / "ablation.json"
    if ablation.exists():
        parts.append(_ablation(json.loads(ablation.read_text())))
    write_text(Path("docs/results.md"), "\n".join(parts))
    return 0


def _published(system: str, cells: Sequence[Cell]) -> list[float]:
    """The errors of PGODE in Table 1 of the paper."""
    from pgode.reproduce.tables.published import published_tables

    found = [published_tables()["table1"].cell(system, "pgode", "", *cell) for cell in cells]
    return [float(cell.value) / 100 for cell in found if cell is not None]


def _errors(table: ScoreTable, cells: Sequence[Cell]) -> list[float]:
    return [error for cell in cells if (error := table.at(*cell)) is not None]


def _by_length(lengths: dict[int, Result]) -> str:
    cells = [cell for cell in CELLS if cell[1] in lengths]
    rows = {
        "PGODE, paper": _published("springs", cells),
        "PGODE 0.2, `paper` preset": [
            error for cell in cells for error in _errors(lengths[cell[1]].evaluation.mse, [cell])
        ],
    }
    took = "; ".join(
        f"length {h}: {each.cost['epochs']} epochs, {each.cost['minutes']} minutes"
        for h, each in lengths.items()
    )
    title = "### Springs, `paper` preset, one model per length"
    return f"{title}\n\n{_table(rows, cells)}\nTraining, one thread: {took}.\n"


def _table(rows: dict[str, list[float]], cells: Sequence[Cell] = CELLS) -> str:
    """A line per cell; ours with the ratio to the paper's number, marked where it is worse."""
    names = {"test": "ID", "ood": "OOD"}
    lines = [
        "| MSE x 1e-2 | " + " | ".join(rows) + " |",
        "|---|" + "---:|" * len(rows),
    ]
    for number, (split, horizon, variable) in enumerate(cells):
        paper = rows["PGODE, paper"][number]
        shown = []
        for label, values in rows.items():
            value = values[number]
            text = f"{100 * value:.3g}"
            if label.startswith("PGODE") and label != "PGODE, paper":
                better = value < paper
                ratio = paper / value if better else value / paper
                side = "lower" if better else "HIGHER"
                text = f"**{text}** ({float(f'{ratio:.3g}'):,g} x {side})"
            shown.append(text)
        lines.append(f"| {names[split]} {horizon} {variable} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def _ablation(rows: dict[str, Any]) -> str:
    lines = [
        "### Effect of each difference between the presets\n",
        rows["note"] + "\n",
        "| change | ID 12 q | ID 12 v | OOD 12 q | OOD 12 v |",
        "|---|---|---|---|---|",
    ]
    for name, cells in rows["rows"].items():
        values = [100 * cells[split][v] for split in ("test", "ood") for v in ("q", "v")]
        lines.append("| " + " | ".join([name, *(f"{value:.3g}" for value in values)]) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("train", "keep", "tables"))
    parser.add_argument("job", nargs="?", choices=sorted(JOBS))
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.action == "tables":
        return tables()
    if arguments.job is None:
        parser.error("name a job")
    if arguments.action == "keep":
        return keep(arguments.job, arguments.folder / arguments.job)
    return train(arguments.job, arguments.folder, arguments.threads)


if __name__ == "__main__":
    sys.exit(main())
