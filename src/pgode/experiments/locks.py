"""One process at a time, where several share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
