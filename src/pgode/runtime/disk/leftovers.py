"""Names of temporaries, and the sweeping of those that processes left behind when they were killed.

A temporary names the process that writes it, so that the next command that writes into the folder
can tell work in progress from what nobody will finish.
"""

import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from glob import escape
from pathlib import Path

from pgode.runtime.disk.identity import PATTERN, Identity, this_process

LONGEST = 255
"""Bytes that a name may have on nearly all file systems."""
CUT = "~"
"""Ends the name of a target that had to be cut to leave room for its writer's identity."""
UNTOUCHED = 2 * 24 * 3600.0
"""Seconds after which a temporary of another machine is taken for one that nobody finishes."""
NAME = re.compile(
    rf"\.(?P<target>.+)\.{PATTERN}-[0-9a-f]{{6}}\.(?P<kind>part|old)(?:[.-]\w+)?", re.DOTALL
)
"""Libraries add their own endings, such as those of formats and journals."""

_swept: set[tuple[int, Path]] = set()


def temporary_name(path: Path, kind: str = "part") -> Path:
    """A new name beside `path` that says who writes there."""
    rest = f".{this_process().text}-{secrets.token_hex(3)}.{kind}"
    # Some bytes for what libraries add to it.
    return path.with_name(f".{_fitting(path.name, LONGEST - len(rest) - 10)}{rest}")


def sweep(folder: Path) -> None:
    """Remove temporaries of dead processes from a folder, once per process and folder.

    A folder that a dead process had moved away to make room for its successor is put back. What
    cannot be removed stays: it is in nobody's way.
    """
    place = (os.getpid(), folder.absolute())
    if place in _swept:
        return
    _swept.add(place)
    try:
        found = [(match, path) for path in folder.iterdir() if (match := NAME.fullmatch(path.name))]
    except OSError:
        return
    # What was moved away first: it is put back before its unfinished successor is removed.
    for match, path in sorted(found, key=lambda each: each[0]["kind"] == "part"):
        if _is_abandoned(match, path):
            _resolve(match, path)


def remove(path: Path) -> None:
    """Remove a temporary, file or folder, as far as possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with suppress(OSError):  # The error of the write itself says more.
        path.unlink(missing_ok=True)


def remove_with_others(path: Path) -> None:
    """Remove a temporary and what libraries wrote beside it under its name."""
    for left in (path, *path.parent.glob(f"{escape(path.name)}[.-]*")):
        remove(left)


def _resolve(match: re.Match[str], path: Path) -> None:
    target = path.with_name(match["target"])
    if match["kind"] == "part" or os.path.lexists(target):
        remove(path)
    elif not match["target"].endswith(CUT):
        with suppress(OSError):
            path.rename(target)


def _is_abandoned(match: re.Match[str], path: Path) -> bool:
    writer = Identity(match["host"], match["space"], int(match["pid"]), match["start"])
    if writer.state != "unknown":
        return writer.state == "dead"
    try:
        times = [path.lstat().st_mtime]
        times += [each.lstat().st_mtime for each in path.rglob("*")] if path.is_dir() else []
    except OSError:  # It changes at this moment.
        return False
    return time.time() - max(times) > UNTOUCHED


def _fitting(name: str, most: int) -> str:
    encoded = os.fsencode(name)
    if len(encoded) <= most:
        return name
    return encoded[: most - len(CUT)].decode("utf-8", "ignore") + CUT
