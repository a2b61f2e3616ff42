"""One process at a time, where several share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgode.runtime.errors import InputError


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time is inside the block for this path; others wait.

    The lock goes with the process that holds it, however that ends. Where the system has no such
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
    """The same for who should not wait: if another process is inside, the error says `busy`."""
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
