"""Folders that this process works in for long: are they still where they were?

Whoever moves or deletes a run folder does not want it back. Without this check the next write
would make the folder anew, with a single file in it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgode.runtime.errors import WriteError

_held: dict[Path, "_Claim"] = {}


class MovedError(WriteError):
    """A folder in use was moved or deleted; `now` is where it went, if it still exists."""

    def __init__(self, text: str, path: Path, now: Path | None) -> None:
        super().__init__(text, path)
        self.now = now

    def advised(self, advice: str) -> "MovedError":
        """The same error with what to do."""
        assert self.path is not None
        return MovedError(f"{self} {advice}", self.path, self.now)


@dataclass(frozen=True)
class _Claim:
    handle: int
    """Of the folder, which stays the same one wherever it is moved."""
    number: tuple[int, int]


@contextmanager
def claim(folder: Path) -> Iterator[int | None]:
    """Watch over a folder inside the block; `replacing` refuses to write to it once it is gone.

    Yields a handle of the folder where the system has such.
    """
    place = folder.absolute()
    if os.name == "nt" or place in _held:
        yield None
        return
    handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    found = os.fstat(handle)
    _held[place] = _Claim(handle, (found.st_dev, found.st_ino))
    try:
        yield handle
    finally:
        del _held[place]
        os.close(handle)


def check_claims(path: Path) -> None:
    """Refuse to write into a folder in use that is not where it was."""
    target = path.absolute()
    for folder, held in _held.items():
        if not target.is_relative_to(folder):
            continue
        try:
            found = folder.stat()
            if (found.st_dev, found.st_ino) == held.number:
                continue
        except OSError:
            pass
        now = _whereabouts(held.handle)
        happened = "was deleted" if now is None else f"was moved to {now}"
        rest = "is lost with it" if now is None else f"is kept in {now}"
        raise MovedError(
            f"{folder} {happened} while this command was working in it. Expected the folder to "
            f"stay until its end. What it had written {rest}.",
            folder,
            now,
        )


def _whereabouts(handle: int) -> Path | None:
    if os.fstat(handle).st_nlink == 0:
        return None
    try:
        place = Path(f"/proc/self/fd/{handle}").readlink()
        found, own = place.stat(), os.fstat(handle)
    except OSError:
        return None
    return place if (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino) else None
