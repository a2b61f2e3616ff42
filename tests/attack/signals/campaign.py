"""`python -m tests.attack.signals.campaign [--count N]`: signals at random moments of all commands.

Half of the signals come while a command starts, in a process of its own; the others while it works,
in a copy of this process, which has its imports already, so that far more moments are tried.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from math import sin
from pathlib import Path
from subprocess import run

from tests.attack.signals.stopping import judged, moments, stopped
from tests.stopped_programs import ending_of

from pgode.cli.app import run_command
from pgode.runtime.stopping.command import GRACE

COMMAND = "pgode.cli"
NETWORK = "--model gru --horizon 6 --epochs 3 --set window.condition=6 --set training.threads=1"
TRAINING = (
    "--preset messages --horizon 6 --epochs 4 --set window.condition=6 --set model.width=8 "
    "--set model.dynamics.prototypes=2 --set training.batch=2 --set training.threads=1"
)
SCENARIOS: dict[str, str] = {
    "help": "--help",
    "simulate": "simulate springs -o new.nc --train 2000 --val 50 --test 50 --ood 50",
    "simulate, zarr": "simulate gravity -o new.zarr --train 200 --val 50 --test 50 --ood 50",
    "train, force laws": "train data.nc -o new --set training.threads=1",
    "train": f"train data.nc -o new {TRAINING}",
    "train, two processes": f"train data.nc -o new --processes 2 {TRAINING}",
    "resume": "train --resume half",
    "fine-tune": "train data.nc -o new --from run --epochs 2",
    "evaluate": "evaluate run --json new.json",
    "forecast": "forecast run data.nc -o new.nc",
    "report": "report run -o new.html",
    "laws": "laws laws --csv new.csv",
    "robustness": "robustness run -o new.html",
    "compare": "compare run gru --samples 0",
    "export": "export run -o new.onnx",
    "import table": "import table table.csv -o new.nc",
    "check": "check table.csv",
    "info": "info data.nc",
    "tune": f"tune data.nc -o new --trials 2 {NETWORK}",
    "reproduce": "reproduce table1 --datasets springs --models lstm --budget smoke -o new",
}
"""By name; `data.nc`, `run`, `half`, `laws`, `gru` and `table.csv` are made beforehand."""


IMPORTED = (
    *("pgode.runs.api", "pgode.runs.report", "pgode.runs.export.exporting", "pgode.runs.compare"),
    *("pgode.runs.robustness", "pgode.tuning.api", "pgode.reproduce.reproduction", "zarr"),
    *("pgode.data.simulate", "pgode.data.files.table.importing", "matplotlib.pyplot"),
)
"""Loaded before commands are tried at their work."""
STARTING = 3.0
"""Seconds from the first line within which signals are sent to a command that starts."""


def rows(count: int, seed: int = 0, only: str = "") -> Iterator[tuple[str, str]]:
    """A name and an outcome ("clean", "ended first" or a failure) for each of `count` signals."""
    chosen = {name: words.split() for name, words in SCENARIOS.items() if only in name}
    with tempfile.TemporaryDirectory(prefix="pgode-signals-") as place:
        good = Path(place) / "good"
        good.mkdir()
        _make(good)
        for module in IMPORTED:
            import_module(module)
        for number, (name, words) in enumerate(chosen.items()):
            share = count // len(chosen) + (number < count % len(chosen))
            for sent, moment in moments(seed + number, share - share // 2, STARTING):
                ending = stopped([COMMAND, *words], _fresh(good), sent, moment)
                yield f"{name}, signal {int(sent)} in its start", _told(ending.outcome, ending.said)
            took = ending_of(partial(_run, words), _fresh(good)).seconds
            for sent, moment in moments(seed - number, share // 2, took):
                warm = ending_of(partial(_run, words), _fresh(good), GRACE, (sent, moment))
                said = judged(warm.code, 128 + sent, warm.said, warm.left, warm.seconds)
                yield f"{name}, signal {int(sent)} in its work", _told(said, warm.said)


def _run(words: list[str], charge: object) -> int:
    return run_command(words)


def _told(outcome: str, said: str) -> str:
    return outcome if outcome in ("clean", "ended first") else f"{outcome}: {said[-2000:]}"


def _make(good: Path) -> None:
    """The files that commands read."""
    sizes = "--train 12 --val 6 --test 6 --ood 4 --objects 4 --frames 24 --seed 1"
    for line in (
        f"simulate springs -o data.nc {sizes}",
        f"train data.nc -o run {TRAINING}",
        f"train data.nc -o half {TRAINING}",
        f"train data.nc -o gru {NETWORK}",
        "train data.nc -o laws --set training.threads=1",
    ):
        done = run([sys.executable, "-m", COMMAND, *line.split()], cwd=good, capture_output=True)
        assert done.returncode == 0, (line, done.stderr.decode()[-2000:])
    (good / "half" / "calibration.json").unlink()
    (good / "half" / "checkpoints" / "last.safetensors").unlink()
    rows = [(day, name) for day in range(80) for name in "abc"]
    lines = [f"{day},{name},{sin(day / 9 + ord(name)):.4f}" for day, name in rows]
    (good / "table.csv").write_text("time,object,x\n" + "\n".join(lines) + "\n")


def _fresh(good: Path) -> Path:
    """A copy of the good files, in place of the last one."""
    folder = good.parent / "try"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    return folder


def main() -> int:
    """Print what failed and a table of outcomes; 1 if something failed."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--count", type=int, default=210)
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--only", default="", help="part of a scenario's name")
    reader.add_argument("--json", type=Path, help="file for every outcome")
    given = reader.parse_args()
    found: dict[str, Counter[str]] = {}
    outcomes = []
    for name, outcome in rows(given.count, given.seed, given.only):
        outcomes.append((name, outcome))
        kind = outcome if outcome in ("clean", "ended first") else "failed"
        found.setdefault(name.partition(", signal")[0], Counter())[kind] += 1
        if kind == "failed":
            print(f"{name}: {outcome}", flush=True)
    for name, counts in found.items():
        print(f"{name:24}", ", ".join(f"{value} {kind}" for kind, value in counts.items()))
    total = sum(found.values(), Counter())
    print("all:", ", ".join(f"{value} {kind}" for kind, value in total.items()))
    if given.json is not None:
        given.json.write_text(json.dumps(outcomes))
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
