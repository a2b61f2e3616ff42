"""The progress of a grid in a terminal."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from pgode.reproduce.plan.trials import Trial, run_folder
from pgode.runtime.tasks import Task


@dataclass
class GridDisplay:
    """One bar for all trials, one for the epochs of each running trial; a line when one ends.

    `trials` are those to run, by the names of their tasks; `done` counts trials that were finished
    before.
    """

    title: str
    trials: Mapping[str, Trial]
    done: int
    root: Path
    console: Console
    failures: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> "GridDisplay":
        columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn())
        self._bars = Progress(*columns, TextColumn("{task.fields[left]}"), console=self.console)
        self._bars.start()
        self._total = self.done + len(self.trials)
        self._all = self._bars.add_task(
            self.title, total=self._total, completed=self.done, left="starting"
        )
        self._shown: dict[str, TaskID] = {}
        self._began, self._before = time.monotonic(), self.done
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def running(self, tasks: Sequence[Task]) -> None:
        """Show the epochs of each running trial."""
        names = [task.name for task in tasks]
        for name in [each for each in self._shown if each not in names]:
            self._bars.remove_task(self._shown.pop(name))
        for name in names:
            trial = self.trials[name]
            if name not in self._shown:
                self._shown[name] = self._bars.add_task(
                    f"  {trial.description}", total=trial.epochs, left=""
                )
            self._bars.update(self._shown[name], completed=_epochs(run_folder(trial, self.root)))

    def finished(self, task: Task) -> None:
        """Count the trial, and estimate the time left from the pace so far."""
        self.done += 1
        pace = (time.monotonic() - self._began) / (self.done - self._before)
        minutes = pace * (self._total - self.done) / 60
        self._bars.update(self._all, completed=self.done, left=f"about {minutes:.0f} min left")
        self._print(f"done: {self.trials[task.name].description}")

    def failed(self, task: Task, reason: str) -> None:
        """Record and print the reason."""
        description = self.trials[task.name].description
        self.failures[description] = reason
        self._print(f"failed: {description}: {reason}", "red")

    def _print(self, text: str, style: str | None = None) -> None:
        self.console.print(text, style=style, highlight=False, soft_wrap=True)


def _epochs(folder: Path) -> int:
    """Lines of a log that another process may be writing."""
    log = folder / "metrics.jsonl"
    return log.read_bytes().count(b"\n") if log.exists() else 0
