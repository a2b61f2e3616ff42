"""Long-run health: memory, open files and threads over many epochs, forecasts and reports.

`python -m benchmarks.long_run` trains a small model for 300 epochs, forecasts 300 times and writes
five reports, each in a fresh process, and compares the state after a warm-up with that at the end.
"""

import argparse
import gc
import json
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks import Measurements, measured_alone
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.runs.report import write_run_report
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.checkpoint import Progress
from pgode.training.config import run_config
from pgode.training.display import Display
from pgode.training.metrics import EpochRow

SETTINGS = {
    "model.width": 16,
    "window.condition": 6,
    "window.horizon": 6,
    "training.batch": 8,
    "training.threads": 1,
}
WARM = 0.2
"""Share of the rounds after which memory is compared: allocators and caches have settled."""


def state() -> dict[str, float]:
    """Resident memory in MB, open files, threads and live tensors of this process."""
    gc.collect()
    status = Path("/proc/self/status").read_text().splitlines()
    resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    tensors = sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())
    return {
        "memory_mb": resident / 1000,
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "tensors": tensors,
    }


def noted(rounds: int) -> tuple[int, int]:
    """The rounds whose state is compared."""
    return max(int(WARM * rounds), 1), rounds


class Watching(Display):
    """Notes the state of the process after a share of all epochs, and after the last."""

    def __init__(self, epochs: int) -> None:
        self.rounds = noted(epochs)
        self.states: list[dict[str, float]] = []

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        """Note the state."""
        if progress.epoch in self.rounds:
            self.states.append(state())


def data() -> Trajectories:
    """A few small systems."""
    return simulate("springs", objects=4, frames=18, train=16, val=4, test=4, ood=2)


def trained(folder: Path, epochs: int) -> list[dict[str, float]]:
    """The state after each epoch of a small training."""
    watching = Watching(epochs)
    config = run_config(preset="messages", changes={**SETTINGS, "training.epochs": epochs})
    train(data(), folder / "run", config, display=watching)
    return watching.states


def forecast(folder: Path, rounds: int) -> list[dict[str, float]]:
    """The state after each of many forecasts in one process."""
    trained(folder, 2)
    run, systems = Run.open(folder / "run"), data().split_of("test")
    return _repeated(lambda number: run.forecast(systems, samples=5, seed=number), rounds)


def reported(folder: Path, rounds: int) -> list[dict[str, float]]:
    """The state after each of several reports in one process."""
    trained(folder, 2)
    run, systems, page = Run.open(folder / "run"), data(), folder / "report.html"
    return _repeated(
        lambda number: write_run_report(
            run, systems, page, examples=2, samples=5, seed=number, overwrite=True
        ),
        rounds,
    )


def _repeated(work: Callable[[int], object], rounds: int) -> list[dict[str, float]]:
    states = []
    for number in range(1, rounds + 1):
        work(number)
        if number in noted(rounds):
            states.append(state())
    return states


KINDS = {"epochs": trained, "forecasts": forecast, "reports": reported}


def measure(kind: str, rounds: int) -> Measurements:
    """What changed between the warm-up and the end, in this process."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        states = KINDS[kind](Path(folder), rounds)
    return {"warm": states[0], "end": states[-1]}


def main() -> None:
    """Measure all three and print a row for each."""
    if len(sys.argv) > 1 and sys.argv[1].startswith("{"):
        print(json.dumps(measure(**json.loads(sys.argv[1]))))
        return
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=300)
    options.add_argument("--forecasts", type=int, default=300)
    options.add_argument("--reports", type=int, default=5)
    given = options.parse_args()
    print("| rounds | memory, MB | open files | threads | live tensors |\n|---|---|---|---|---|")
    for kind in KINDS:
        rounds = getattr(given, kind)
        found = measured_alone("benchmarks.long_run", {"kind": kind, "rounds": rounds})
        warm, end = found["warm"], found["end"]
        cells = [f"{warm[name]:.0f} to {end[name]:.0f}" for name in warm]
        print(f"| {rounds} {kind} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
