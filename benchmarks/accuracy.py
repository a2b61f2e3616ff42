"""Trains the models behind docs/results.md and writes its tables. Takes hours; see `--help`.

python -m benchmarks.accuracy train springs      # one run of the list below, resumable
python -m benchmarks.accuracy tables             # benchmarks/results/*.json -> docs/results.md
"""

import argparse
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.published import PGODE

if TYPE_CHECKING:
    from pgode.evaluation import Evaluation, ScoreTable

RESULTS = Path("benchmarks/results")
CELLS = [(split, h, v) for split in ("test", "ood") for h in ("12", "24", "36") for v in ("q", "v")]


INTRODUCTION = """# Results

<!-- Written by `python -m benchmarks.accuracy tables`. Change that file, not this page. -->

Mean squared error in scaled units (each variable to [-1, 1] over the training split), averaged
over objects and over the first 12, 24 or 36 forecast frames; 12 observed frames; 1000 training,
200 validation, 200 test (ID) and 200 out-of-distribution (OOD) systems. One seed. The paper's
numbers are those of its Table 1; its data was drawn with other random numbers and scaled by its
own code, so the last digits of a comparison mean nothing. "Last value" and "constant velocity"
learn nothing and stand in every table.

Each run is made by `python -m benchmarks.accuracy train NAME`, and its full evaluation is in
`benchmarks/results/NAME.json`.
"""

READING = """## How to read this

- On Springs what a forecast has to find out is the strength of the springs. The `default` preset
  measures it on the condition (`model.strength`) and pulls objects along the lines to their
  neighbours with it (`model.coupling`); without these two the error out of distribution grew with
  the distance of a system's strength from the usual one. [Where we differ](differences.md) has the
  reasons, the ablation above what each is worth.
- Energy is not conserved by construction, and the forecasts drift more than the simulator.
- On Charged close encounters are chaotic: a small error before one is a large error after it. The
  simulator's own energy drifts there too, because it clips the force at short distances.
- The `paper` preset was trained with batch 16 and learning rate 1e-3, because the paper's batch of
  256 gives four steps an epoch. It keeps a layer norm before each attention, without which the
  scores of Eq. 3, bounded by no softmax, learn more slowly.
- One seed, one data set each: differences of a few per cent between rows mean nothing.
"""


@dataclass(frozen=True)
class Job:
    """One training run: what it is called, its data, and the words after `pgode train DATA`."""

    name: str
    system: str
    words: tuple[str, ...]


# The paper's batch of 256 gives four steps an epoch, too few for the epochs that fit here.
_SMALLER = ("--set", "training.batch=16", "--set", "training.learning_rate=0.001")
_PAPER = ("--preset", "paper", *_SMALLER)
JOBS = {
    job.name: job
    for job in (
        Job("springs", "springs", ()),
        Job("springs-paper-12", "springs", (*_PAPER, "--horizon", "12", "--epochs", "40")),
        Job("springs-paper-24", "springs", (*_PAPER, "--horizon", "24", "--epochs", "20")),
        Job("springs-paper-36", "springs", (*_PAPER, "--horizon", "36", "--epochs", "12")),
        Job("charged", "charged", ("--epochs", "24")),
    )
}


def train(name: str, folder: Path, threads: int) -> int:
    """Make the data, train or resume the job, evaluate it, and keep the evaluation."""
    from pgode.cli.app import run_command

    job = JOBS[name]
    data, run = folder / f"{job.system}.nc", folder / name
    if not data.exists() and run_command(["simulate", job.system, "-o", str(data)]):
        return 1
    words = ["--resume", str(run)]
    if not (run / "config.json").exists():
        words = [str(data), "-o", str(run), *job.words, "--threads", str(threads)]
    if run_command(["train", *words]):
        return 1
    return keep(name, run)


def keep(name: str, run: Path) -> int:
    """Evaluate a finished run into benchmarks/results, with what its training took."""
    from pgode.data import files
    from pgode.runs.folder import source_of
    from pgode.runs.run import Run
    from pgode.runtime.files import write_json

    opened = Run.open(run)
    evaluation = opened.evaluate(files.read(source_of(run)))
    epochs = opened.epochs
    content = {
        "epochs": len(epochs),
        "minutes": round(epochs[-1]["seconds"] / 60, 1),
        "threads": opened.config.training.threads,
        "evaluation": replace(evaluation, curves={}, curve_low={}, curve_high={}).to_json(),
    }
    write_json(RESULTS / f"{name}.json", content)
    return 0


def tables() -> int:
    """Write docs/results.md from what is in benchmarks/results."""
    from pgode.runtime.files import write_text

    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    parts = [INTRODUCTION]
    if "springs" in found:
        parts.append(_section("Springs, `default` preset, one model", "springs", found["springs"]))
    names = {h: f"springs-paper-{h}" for h in ("12", "24", "36")}
    lengths = {h: found[name] for h, name in names.items() if name in found}
    if lengths:
        parts.append(_by_length(lengths))
    if "charged" in found:
        parts.append(_section("Charged, `default` preset, one model", "charged", found["charged"]))
    if "ablation" in found:
        parts.append(_ablation(found["ablation"]))
    parts.append(READING)
    write_text(Path("docs/results.md"), "\n".join(parts))
    return 0


def _section(title: str, system: str, result: dict[str, Any]) -> str:
    evaluation = _evaluation(result)
    naive = {name: evaluation.naive_mse(name) for name in evaluation.naive}
    rows = {
        "PGODE, paper": [PGODE[system][s][h][v] / 100 for s, h, v in CELLS],
        "PGODE, ours": [_known(evaluation.mse, s, h, v) for s, h, v in CELLS],
        "constant velocity": [_known(naive["constant-velocity"], s, h, v) for s, h, v in CELLS],
        "last value": [_known(naive["last-value"], s, h, v) for s, h, v in CELLS],
    }
    coverage = evaluation.score("coverage_90")
    drift = evaluation.energy_drift or {}
    seed = evaluation.training.seed if evaluation.training else None
    lines = [
        f"## {title}\n",
        _table(rows),
        f"Training: {result['epochs']} epochs, {result['minutes']} minutes on "
        f"{result['threads']} thread(s) of a shared two-core machine. Data hash "
        f"`{evaluation.data_hash[:12]}`, seed {seed}.\n",
        "Share of true values inside the 90 % interval (first 36 frames): "
        + "; ".join(
            f"{split} {name} {100 * _known(coverage, split, '36', name):.1f} %"
            for split in coverage.splits
            for name in coverage.columns
        )
        + ".\n",
        "Energy drift, median over systems of the mean |E(t) - E(0)| / |E(0)|: "
        + "; ".join(
            f"{split} forecast {100 * drift[split]['forecast']:.2f} %, "
            f"truth {100 * drift[split]['truth']:.2f} %"
            for split in drift
        )
        + ".\n",
    ]
    return "\n".join(lines)


def _by_length(lengths: dict[str, dict[str, Any]]) -> str:
    cells = [cell for cell in CELLS if cell[1] in lengths]
    errors = {h: _evaluation(each).mse for h, each in lengths.items()}
    rows = {
        "PGODE, paper": [PGODE["springs"][s][h][v] / 100 for s, h, v in cells],
        "PGODE, `paper` preset": [_known(errors[h], s, h, v) for s, h, v in cells],
    }
    took = "; ".join(
        f"length {h}: {each['epochs']} epochs, {each['minutes']} minutes"
        for h, each in lengths.items()
    )
    title = "## Springs, `paper` preset, one model per length"
    return f"{title}\n\n{_table(rows, cells)}\nTraining, one thread: {took}.\n"


def _evaluation(result: dict[str, Any]) -> "Evaluation":
    from pgode.evaluation import Evaluation

    return Evaluation.from_json(result["evaluation"])


def _known(table: "ScoreTable", split: str, horizon: str, variable: str) -> float:
    value = table.at(split, int(horizon), variable)
    assert value is not None, (split, horizon, variable)
    return value


def _table(rows: dict[str, list[float]], cells: list[tuple[str, str, str]] | None = None) -> str:
    """A line per cell; ours with the ratio to the paper's number, marked where it is worse."""
    cells = cells or CELLS
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
        "## What each difference between the presets is worth\n",
        rows["note"] + "\n",
        "| change | ID 12 q | ID 12 v | OOD 12 q | OOD 12 v |",
        "|---|---|---|---|---|",
    ]
    for name, cells in rows["rows"].items():
        values = [100 * cells[split][v] for split in ("test", "ood") for v in ("q", "v")]
        lines.append("| " + " | ".join([name, *(f"{value:.3g}" for value in values)]) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Parse the words and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("train", "keep", "tables"))
    parser.add_argument("job", nargs="?", choices=sorted(JOBS))
    parser.add_argument("--folder", type=Path, default=Path("runs"))
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.action == "tables":
        return tables()
    if given.job is None:
        parser.error("name a job")
    if given.action == "keep":
        return keep(given.job, given.folder / given.job)
    return train(given.job, given.folder, given.threads)


if __name__ == "__main__":
    sys.exit(main())
