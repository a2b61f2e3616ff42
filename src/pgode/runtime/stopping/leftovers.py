"""What must not outlive a process that is stopped: temporary files and child processes.

All of this may run while the main thread stands within an import, so nothing here may import, not
even by naming an encoding.
"""

import os
import shutil
import signal
import subprocess
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TRIES, PAUSE = 50, 0.02
"""A folder is removed again while other threads (those of zarr) still write into it."""
FAREWELL = 1.5
"""Seconds that child processes have to end after they were asked to."""


@dataclass(frozen=True)
class Unfinished:
    """A file or folder being written, and the names of its commit."""

    temporary: Path
    old: Path
    """Where a folder that is being replaced waits."""
    target: Path
    folders: list[Path]
    """Those that were missing above the target, innermost first."""

    def undo(self) -> None:
        """Remove it; the target is what it was before, or complete."""
        if self.old.is_dir() and not self.target.exists():
            self.old.rename(self.target)
        for left in (self.temporary, self.old):
            erase(left)
        if not self.target.exists():
            for folder in self.folders:
                with suppress(OSError):  # Somebody else uses it by now, or it was never made.
                    folder.rmdir()


_unfinished: dict[Path, Unfinished] = {}
_children: "weakref.WeakSet[subprocess.Popen[bytes]]" = weakref.WeakSet()


def begun(temporary: Path, old: Path, target: Path, folders: list[Path]) -> None:
    """Something is written to `temporary` from now on, in folders of which some are missing."""
    _unfinished[temporary] = Unfinished(temporary, old, target, folders)


def ended(temporary: Path) -> None:
    """It has been renamed or removed."""
    _unfinished.pop(temporary, None)


def child(process: "subprocess.Popen[bytes]") -> "subprocess.Popen[bytes]":
    """This process ends with ours."""
    _children.add(process)
    return process


def forget() -> None:
    """Nothing of this is ours: in a copy of the process made by fork."""
    _unfinished.clear()
    _children.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget)


def undo_all() -> None:
    """Remove all that is unfinished; what cannot be removed stays."""
    for each in list(_unfinished.values()):
        with suppress(OSError):
            each.undo()


def erase(path: Path) -> None:
    """Remove a file, or a folder although something may still be added to it."""
    for _ in range(TRIES):
        if not path.is_dir() or path.is_symlink():
            break
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(PAUSE)
    else:
        return
    path.unlink(missing_ok=True)


def ask_children() -> list[int]:
    """Ask all child processes, and theirs, to end; those that were asked."""
    asked = {each.pid for each in list(_children) if each.returncode is None}
    asked |= set(_descendants(os.getpid()))
    for pid in asked:
        with suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    return sorted(asked)


def end_children(asked: list[int]) -> None:
    """Wait a little for them; then kill those that are left."""
    until = time.monotonic() + FAREWELL
    left = [pid for pid in asked if _lives(pid)]
    while left and time.monotonic() < until:
        time.sleep(PAUSE)
        left = [pid for pid in left if _lives(pid)]
    for pid in left:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for pid in left:
        with suppress(OSError):
            os.waitpid(pid, 0)


def _lives(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == 0
    except ChildProcessError:  # No child of ours, but perhaps one of theirs.
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return True


def _descendants(pid: int) -> list[int]:
    """Processes below this one, as Linux lists them; none elsewhere."""
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for each in map(int, listed.read_bytes().split()):
                found += [each, *_descendants(each)]
    return found
