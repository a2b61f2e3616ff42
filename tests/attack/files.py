"""What a folder holds, what changed in it, and bringing it back."""

import hashlib
import os
import shutil
import stat
from pathlib import Path

Content = dict[str, str]

LEFT = (".part", ".old", ".tmp")
"""Endings of temporary files. Lock files stay by design: who removes one breaks another's lock."""


def content(folder: Path) -> Content:
    """Every path below a folder with a hash of what it holds, or its kind. Follows no links."""
    found: Content = {}
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            found[str(path.relative_to(folder))] = _described(path)
    return found


def _described(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    if stat.S_ISLNK(mode):
        return f"link to {path.readlink()}"
    return "folder" if stat.S_ISDIR(mode) else "special"


def lost(before: Content, after: Content) -> list[str]:
    """Paths that were there and are changed or gone."""
    return sorted(path for path, held in before.items() if after.get(path) != held)


def appeared(before: Content, after: Content) -> list[str]:
    """Paths that are new, without locks."""
    return sorted(path for path in after.keys() - before.keys() if not path.endswith(".lock"))


def is_leftover(path: str) -> bool:
    """Whether a path is a temporary one, or in a temporary folder."""
    return any(part.endswith(LEFT) for part in Path(path).parts)


def restore(folder: Path, good: Path, before: Content) -> None:
    """Make a folder what the good one is, whose content is `before`; copies what differs."""
    now = content(folder)
    for path in sorted(appeared(before, now) + lost(before, now), reverse=True):
        _remove(folder / path)
    for path in sorted(lost(before, now)):
        source, target = good / path, folder / path
        if source.is_dir() and not source.is_symlink():
            target.mkdir(exist_ok=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)
    for path in now.keys() - before.keys():
        if path.endswith(".lock"):
            _remove(folder / path)


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path)
