"""The end of a process at any of the moments at which it puts a file in place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class Killed(BaseException):
    """Stands for the end of the process: nothing in the code under test waits for it."""


@contextmanager
def killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """End the block before its rename of this number, and forbid all later ones.

    Yields the names of files that were put in place, the one that was not last.
    """
    done: list[str] = []
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        done.append(Path(target).name)
        if len(done) > number:
            raise Killed
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        try:
            yield done
        except Killed:
            del done[number + 1 :]
