"""Progress of tasks in a terminal: a bar for all of them, and one for each that is running."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID

from pgode.runtime.terminal.console import plain_column


@dataclass(frozen=True)
class TaskBar:
    """The bar of a running task: its text, and how many of `total` parts are done now."""

    description: str
    total: int
    completed: Callable[[], int]


class TaskBars:
    """`total` tasks, of which `done` were finished before; a line is printed when one ends."""

    def __init__(self, title: str, total: int, done: int, console: Console) -> None:
        self.title, self.total, self.done, self.console = title, total, done, console

    def __enter__(self) -> "TaskBars":
        columns = (plain_column("description"), BarColumn(30), MofNCompleteColumn())
        self._bars = Progress(*columns, plain_column("fields[left]"), console=self.console)
        self._bars.start()
        self._all = self._bars.add_task(
            self.title, total=self.total, completed=self.done, left="starting"
        )
        self._shown: dict[str, TaskID] = {}
        self._began, self._before = time.monotonic(), self.done
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def running(self, bars: Mapping[str, TaskBar]) -> None:
        """These tasks are running now, by name."""
        for name in [each for each in self._shown if each not in bars]:
            self._bars.remove_task(self._shown.pop(name))
        for name, bar in bars.items():
            if name not in self._shown:
                self._shown[name] = self._bars.add_task(
                    f"  {bar.description}", total=bar.total, left=""
                )
            self._bars.update(self._shown[name], completed=bar.completed())

    def advance(self) -> None:
        """Count a task, and estimate the time left from the pace so far."""
        self.done += 1
        pace = (time.monotonic() - self._began) / (self.done - self._before)
        minutes = pace * max(self.total - self.done, 0) / 60
        self._bars.update(self._all, completed=self.done, left=f"about {minutes:.0f} min left")

    def print(self, text: str, style: str | None = None) -> None:
        """A line above the bars."""
        self.console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)


def logged_epochs(folder: Path) -> int:
    """Epochs in the log of a run, which another process may be writing."""
    log = folder / "metrics.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0
