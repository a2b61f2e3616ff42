"""Locks between processes that share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgode.runtime.errors import InputError


@contextmanager
def locked(path: Path, busy: str | None = None) -> Iterator[None]:
    """Let one process at a time into the block for this path; others wait.

    With `busy` nobody waits: if another process is inside, an error begins with that sentence. The
    lock ends with the process that holds it, even if that is killed. On systems without such locks
    (Windows) everybody enters: two grids must not share a folder there.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if busy is None else fcntl.LOCK_NB))
        except BlockingIOError:
            raise InputError(
                f"{busy}. Expected one at a time. Wait for it, or stop it; what it has finished "
                f"is kept."
            ) from None
        yield
