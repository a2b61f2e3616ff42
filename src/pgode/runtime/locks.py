"""Locks between processes that share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgode.runtime.errors import InputError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time into the block for this path; others wait.

    The lock ends with the process that holds it, even if that is killed. On systems without such
    locks (Windows) nobody waits: two grids must not share a folder there.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def only_one(path: Path, busy: str) -> Iterator[None]:
    """The same without waiting: if another process is inside, the error begins with `busy`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{busy}. Expected one at a time. Wait for it, or stop it; what it has finished "
                f"is kept."
            ) from None
        yield
