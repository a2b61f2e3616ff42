"""Many epochs and forecasts in one process leave no files, threads, tensors or memory behind."""

import gc
import sys
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
        memory = next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))
        files = len(list(Path("/proc/self/fd").iterdir()))
        tensors = sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())
        return cls(files, threading.active_count(), tensors, memory / 1000)


WATCHED = (3, 10, 17)
"""Rounds that are compared: the first ones fill caches."""


def check(warm: State, later: State, last: State) -> None:
    """Nothing grows. Memory may jump once, by the allocator or the system; a leak goes on."""
    assert warm[:3] == later[:3] == last[:3]
    assert min(later.memory - warm.memory, last.memory - later.memory) < LOOSELY


class Watching(Display):
    def __init__(self) -> None:
        self.states: list[State] = []
        self.epochs = 0

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        self.epochs += 1
        if self.epochs in WATCHED:
            self.states.append(State.now())


def test_epochs_leave_nothing_behind(tmp_path: Path) -> None:
    watching = Watching()
    assert trained_in(tmp_path / "run", settings(training_epochs=WATCHED[-1]), watching) is not None
    assert watching.epochs == WATCHED[-1]
    check(*watching.states)


def test_forecasts_leave_nothing_behind() -> None:
    run, systems, states = trained(), springs().split_of("test"), []
    for number in range(1, WATCHED[-1] + 1):
        run.forecast(systems, samples=3, seed=number)
        if number in WATCHED:
            states.append(State.now())
    check(*states)
