"""Many epochs and forecasts in one process leave no files, threads, tensors or memory behind.

The process is a new one: that of the tests holds what thousands of them left, and it moves.
"""

import gc
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from tests.trained_runs import settings, springs, trained, trained_in

from pgode.training.checkpoint import Progress
from pgode.training.display import Display
from pgode.training.metrics import EpochRow

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

ROOT = Path(__file__).parents[2]
LOOSELY = 60.0
"""Megabytes by which memory may differ: allocators keep what they like, but no epoch leaks one."""


class State(NamedTuple):
    """What this process holds; exact numbers first."""

    files: int
    threads: int
    tensors: int
    memory: float

    @classmethod
    def now(cls) -> "State":
        gc.collect()
        status = Path("/proc/self/status").read_text().splitlines()
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
        files = len(list(Path("/proc/self/fd").iterdir()))
        tensors = sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())
        return cls(files, threading.active_count(), tensors, memory / 1000)


WARM, LAST = 3, 10
"""Rounds that are compared: the first ones fill caches."""


def check(warm: State, last: State) -> None:
    """Nothing has grown."""
    assert last[:3] == warm[:3]
    assert last.memory < warm.memory + LOOSELY


class Watching(Display):
    def __init__(self) -> None:
        self.states: list[State] = []
        self.epochs = 0

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        self.epochs += 1
        if self.epochs in (WARM, LAST):
            self.states.append(State.now())


def many_epochs() -> None:
    watching = Watching()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        assert trained_in(run, settings(training_epochs=LAST), watching) is not None
    assert watching.epochs == LAST
    check(*watching.states)


def many_forecasts() -> None:
    run, systems, states = trained(), springs().split_of("test"), []
    for number in range(1, LAST + 1):
        run.forecast(systems, samples=3, seed=number)
        if number in (WARM, LAST):
            states.append(State.now())
    check(*states)


WORK = {"epochs": many_epochs, "forecasts": many_forecasts}


@pytest.mark.parametrize("name", WORK)
def test_nothing_is_left_behind(name: str) -> None:
    program = [sys.executable, "-m", "tests.training.test_long_run", name]
    done = subprocess.run(
        program, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    WORK[sys.argv[1]]()
