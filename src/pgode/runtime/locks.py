"""Locks between processes that share a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgode.runtime.errors import InputError


@contextmanager
def locked(path: Path, busy: str | None = None) -> Iterator[None]:
    """Let one process at a time into the block for this path; others wait.

    With `busy` no process waits: if the lock is held, an error that begins with that sentence is
    raised. The lock ends with the process that holds it, even if it is killed. Systems without such
    locks (Windows) lock nothing: two grids must not share a folder there.
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
                f"{busy}. Expected one at a time. Wait for it, or stop it; its finished "
                f"work is kept."
            ) from None
        yield
