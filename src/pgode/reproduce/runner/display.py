"""The progress of a grid in a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rich.console import Console

from pgode.reproduce.plan.results import read_result
from pgode.reproduce.plan.trials import Trial, run_folder
from pgode.runtime.tasks import Task
from pgode.runtime.terminal.task_bars import TaskBar, TaskBars, logged_epochs


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
        total = self.done + len(self.trials)
        self._bars = TaskBars(self.title, total, self.done, self.console)
        self._bars.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.__exit__()

    def running(self, tasks: Sequence[Task]) -> None:
        """Show the epochs of each running trial."""
        shown = {task.name: self.trials[task.name] for task in tasks}
        self._bars.running({name: self._bar(trial) for name, trial in shown.items()})

    def finished(self, task: Task) -> None:
        """Count the trial, and estimate the time left from the pace so far."""
        trial = self.trials[task.name]
        result = read_result(trial, self.root)
        self._bars.advance()
        ended = "diverged" if result is not None and result.diverged else "done"
        self._bars.print(f"{ended}: {trial.description}")

    def failed(self, task: Task, reason: str) -> None:
        """Record and print the reason."""
        description = self.trials[task.name].description
        self.failures[description] = reason
        self._bars.print(f"failed: {description}: {reason}", "red")

    def _bar(self, trial: Trial) -> TaskBar:
        folder = run_folder(trial, self.root)
        return TaskBar(trial.description, trial.epochs, partial(logged_epochs, folder))
