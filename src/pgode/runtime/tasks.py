"""Long work as independent tasks, and the interface for watching their progress."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

PAUSE = 0.3
"""Seconds between two checks of the running tasks."""


@dataclass(frozen=True)
class Task:
    """One piece of work, described for both engines.

    On this machine it is `python -m command`, which stores its results itself and prints into
    `log`. On Ray, whose workers need not share our files, it is the generator function
    `work(*arguments())`: it yields each result as soon as it is finished, and `store` writes it
    here. `arguments` is called when the task starts, since they can be large.
    """

    name: str
    command: tuple[str, ...]
    log: Path
    work: Callable[..., Iterator[Any]]
    arguments: Callable[[], tuple[Any, ...]]
    store: Callable[[Any], None]


class Watcher(Protocol):
    """Callbacks on the progress of tasks."""

    def running(self, tasks: Sequence[Task]) -> None:
        """These are running now; called several times a second."""

    def finished(self, task: Task) -> None:
        """All its results are stored."""

    def failed(self, task: Task, reason: str) -> None:
        """It ended without all its results; the others continue."""
