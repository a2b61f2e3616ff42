"""What an attack found: the classes of failure, and the limits that every refusal keeps."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MOST_SECONDS = 5.0
"""Of processor time, because on a busy machine the clock tells nothing about the program."""
MOST_MEGABYTES = 1000.0
PATIENCE = 180.0
"""Seconds by the clock after which a command hangs; a disk that is busy can hold one up for 60."""

FAILURES = {
    "traceback": "ended with a traceback, a signal or an unknown exit code",
    "hang": "did not end",
    "silent difference": "other numbers, without a word",
    "file lost": "a file that is no output was changed or removed, or an output is neither old nor "
    "new",
    "leftover": "left a temporary file, an unfinished output or a process",
    "accepted": "took what it has to refuse, or refused what it has to take",
    "message": "refused, but not in one paragraph of plain text",
    "too slow": f"refused after more than {MOST_SECONDS:g} s of processor time",
    "too large": f"refused with more than {MOST_MEGABYTES:g} MB of memory",
    "resume": "could not go on after it was stopped",
}
"""Every way to fail, the worst of a try is counted."""


@dataclass(frozen=True)
class Outcome:
    """One try: how it failed, if it did, and what a refusal took."""

    campaign: str
    group: str
    name: str
    failure: str = ""
    detail: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0
    refused: bool = False
    skipped: str = ""
    tries: int = 1

    def __post_init__(self) -> None:
        assert not self.failure or self.failure in FAILURES, self.failure


@dataclass(frozen=True)
class Task:
    """Something to try in a folder of good files, which the try may change."""

    campaign: str
    group: str
    name: str
    attempt: Callable[[Path], list[Outcome]]
