"""Reading of files of a run, each compared with the run's manifest first."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from pgode.runtime.errors import InputError
from pgode.runtime.reading import check_file, read_bytes
from pgode.runtime.stored.manifest import MANIFEST, FileRecord, Manifest, fingerprint

LIMIT = 2**26
"""Bytes of a file that is read as a whole. Weights are not: they are read tensor by tensor."""
TRIES = 5
"""A training may replace file and manifest while they are read."""

Found = TypeVar("Found")

_trusting: ContextVar[bool] = ContextVar("trusting", default=False)


class DamagedFileError(InputError):
    """A file of a run differs from what its manifest lists."""


@contextmanager
def unlisted() -> Iterator[None]:
    """Read files by their form alone, as if there were no manifest: the user vouches for them."""
    before = _trusting.set(True)
    try:
        yield
    finally:
        _trusting.reset(before)


def read_listed(folder: Path, name: str, what: str = "", limit: int = LIMIT) -> bytes:
    """The bytes of a file of a run, which must be those that its manifest lists."""
    content, _ = _compared(
        folder,
        name,
        lambda: read_bytes(folder / name, what, limit),
        lambda found: FileRecord(sha256=hashlib.sha256(found).hexdigest(), size=len(found)),
    )
    return content


def check_listed(folder: Path, name: str) -> bool:
    """Refuse a file that differs from the manifest; whether the manifest vouches for it."""
    path = folder / name
    _, vouched = _compared(folder, name, lambda: check_file(path), lambda _: fingerprint(path))
    return vouched


def _compared(
    folder: Path, name: str, read: Callable[[], Found], record: Callable[[Found], FileRecord]
) -> tuple[Found, bool]:
    """What `read` returns, compared with the manifest if that vouches for the file."""
    for attempt in range(TRIES):
        manifest = _manifest(folder)
        content = read()
        if manifest is None or not manifest.vouches_for(name):
            break
        listed, found = manifest.files.get(name), record(content)
        if listed == found:
            return content, True
        if attempt + 1 == TRIES or _manifest(folder) == manifest:
            raise _differs(folder, name, listed, found)
    return content, False


def is_present(folder: Path, name: str) -> bool:
    """Whether a run has a file; an error if it is listed and gone."""
    if (folder / name).exists():
        return True
    for _ in range(TRIES):
        manifest = _manifest(folder)
        if manifest is None or not manifest.vouches_for(name) or name not in manifest.files:
            return False
        if (folder / name).exists():
            return True
        if _manifest(folder) == manifest:
            break
    raise DamagedFileError(
        f"{folder / name} is missing: {MANIFEST} of the run lists it. Expected all files of the "
        f"run, since it would give other results without. {_way_out(folder, 'removed it')}"
    )


def run_place(path: Path) -> tuple[Path, str]:
    """The folder of the run that a checkpoint belongs to, and its path within the folder."""
    if path.parent.name == "checkpoints":
        return path.parent.parent, f"checkpoints/{path.name}"
    return path.parent, path.name


def _manifest(folder: Path) -> Manifest | None:
    return None if _trusting.get() else Manifest.read(folder)


def _differs(
    folder: Path, name: str, listed: FileRecord | None, found: FileRecord
) -> DamagedFileError:
    if listed is None:
        problem = f"{folder / name} is not listed in {MANIFEST} of the run"
    elif listed.size != found.size:
        problem = (
            f"{folder / name} is not as pgode wrote it: it has {found.size:,} bytes, "
            f"{MANIFEST} of the run lists {listed.size:,} bytes"
        )
    else:
        problem = (
            f"{folder / name} is not as pgode wrote it: its SHA-256 is {found.sha256[:12]}..., "
            f"{MANIFEST} of the run lists {listed.sha256[:12]}..."
        )
    return DamagedFileError(
        f"{problem}. Expected the file unchanged, since another one may give other numbers. "
        f"{_way_out(folder, 'changed it')}"
    )


def _way_out(folder: Path, done: str) -> str:
    return (
        f"Restore it from a copy, or train again; if you {done} on purpose, say so: pgode verify "
        f"{folder} --accept."
    )
