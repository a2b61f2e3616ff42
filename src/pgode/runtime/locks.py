"""Locks between processes that share a folder: one at a time, and the others learn who it is."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pgode.runtime.disk import claims
from pgode.runtime.disk.owner import Owner
from pgode.runtime.disk.room import unwritable
from pgode.runtime.errors import BusyError

LOCK = ".lock"
"""The file within a folder that one process at a time works in."""
UNSUPPORTED = (
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.ENOLCK,
    errno.EINVAL,
    errno.EBADF,
)
"""Errors of file systems that have no locks."""
PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A lock in the folder of a stranger may be a link to a file that is worth something."""
PAUSE = 0.2
"""Seconds between two looks at a lock that only its file tells about."""


@contextmanager
def locked(path: Path, busy: str | None = None) -> Iterator[None]:
    """Let one process at a time into the block for this path; others wait.

    With `busy` no process waits: if the lock is held, an error that begins with that sentence and
    names the owner is raised. The lock ends with the process that holds it, even if it is killed.
    """
    name = path.name if len(os.fsencode(path.name)) < 245 else path.name[:60]
    with _held(path.parent / f".{name}.lock", busy):
        yield


@contextmanager
def occupied(folder: Path, busy: str) -> Iterator[None]:
    """Let only this process work in a folder, which is made if it is missing.

    Another process gets an error that begins with `busy`. The lock moves with the folder, and once
    the folder is not where it was, `pgode.runtime.files` refuses to write into it.
    """
    is_new, own = not folder.exists(), None
    try:
        with _held(folder / LOCK, busy), claims.claim(folder) as handle:
            own = folder.stat().st_ino
            try:
                yield
            finally:
                if handle is not None:  # Wherever the folder is by now.
                    with suppress(OSError):
                        os.unlink(LOCK, dir_fd=handle)
    finally:
        if is_new:
            with suppress(OSError):  # It has content.
                if folder.stat().st_ino == own:
                    folder.rmdir()


def check_free(folder: Path, busy: str) -> None:
    """Refuse a folder that another process works in, before anything is read for work there."""
    if (folder / LOCK).exists():
        with _held(folder / LOCK, busy):
            pass


@contextmanager
def _held(file: Path, busy: str | None) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not _by_system(file, busy, stack):
                _by_file(file, busy, stack)
        except OSError as error:
            raise unwritable(file.parent, error) from None
        yield


def _by_system(file: Path, busy: str | None, stack: ExitStack) -> bool:
    """Take a lock that the system frees when the process ends; False where it has none."""
    try:
        import fcntl
    except ImportError:  # On Windows.
        return False
    while True:
        handle = _opened(file)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if busy is None else fcntl.LOCK_NB))
        except BlockingIOError:
            owner = Owner.read(handle)
            os.close(handle)
            raise _busy(busy, owner) from None
        except OSError as error:
            os.close(handle)
            if error.errno not in UNSUPPORTED:
                raise
            file.unlink(missing_ok=True)
            return False
        if _is(handle, file):
            break
        os.close(handle)  # Its owner has removed it meanwhile.
    with suppress(OSError):  # A full disk: others then learn less about the owner.
        os.ftruncate(handle, 0)
        os.pwrite(handle, Owner.this().to_bytes(), 0)
    stack.callback(os.close, handle)
    stack.callback(_remove, file, handle)
    return True


def _by_file(file: Path, busy: str | None, stack: ExitStack) -> None:
    """Take a lock that is there as long as its file names a living process.

    For file systems without locks. That of a killed process is taken over on the machine where it
    ran; on others nobody can know, and the error says which file to remove.
    """
    file = file.with_name(f"{file.name}-owner")
    own = Owner.this()
    while True:
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            pass
        else:
            with os.fdopen(handle, "wb") as written:
                written.write(own.to_bytes())
            break
        other = _settled_owner(file)
        if other is not None and other.identity.state == "dead":
            _take_away(file, other)
        elif busy is not None:
            raise _busy(busy, other, file)
        else:
            time.sleep(PAUSE)
    stack.callback(file.unlink, missing_ok=True)


def _settled_owner(file: Path) -> Owner | None:
    """The owner in a file, which may be written at this moment."""
    for _ in range(10):
        owner = _owner_in(file)
        if owner is not None:
            return owner
        time.sleep(PAUSE / 10)
    return None


def _take_away(file: Path, dead: Owner) -> None:
    """Remove the lock of a dead process, unless another one was quicker and has it now."""
    away = file.with_name(f"{file.name}-{os.getpid()}")
    with suppress(FileNotFoundError):
        file.rename(away)
        if _owner_in(away) != dead:
            away.rename(file)
        away.unlink(missing_ok=True)


def _owner_in(file: Path) -> Owner | None:
    try:
        handle = os.open(file, os.O_RDONLY | PLAIN)
    except OSError:
        return None
    try:
        return Owner.read(handle)
    finally:
        os.close(handle)


def _opened(file: Path) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_CREAT | PLAIN, 0o666)
    except PermissionError:
        return os.open(file, os.O_RDONLY | PLAIN)  # Of another user; a lock needs no more.


def _is(handle: int, file: Path) -> bool:
    """Whether a handle is of the file that has this name now."""
    try:
        found, own = file.stat(), os.fstat(handle)
    except FileNotFoundError:
        return False
    return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)


def _remove(file: Path, handle: int) -> None:
    with suppress(OSError):
        if _is(handle, file):
            file.unlink()


def _busy(busy: str | None, owner: Owner | None, file: Path | None = None) -> BusyError:
    who = "" if owner is None else f" ({owner.text})"
    gone = "" if file is None else f" If that process is gone, remove {file}."
    return BusyError(
        f"{busy}{who}. Expected one at a time; nothing was touched. Wait for it, or stop it: its "
        f"finished work is kept.{gone}"
    )
