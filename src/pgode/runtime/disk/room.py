"""Room on a disk, and what is said when something could not be written."""

import errno
import os
import re
from pathlib import Path

from pgode.runtime.errors import PgodeError, WriteError
from pgode.runtime.memory import size_text

DISK = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.ESTALE,
)
"""Errors of a write that are about the disk and not about what is written."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
WORDS = {
    "disk is full": errno.ENOSPC,
    "disk I/O error": errno.EIO,
    "readonly database": errno.EROFS,
    "unable to open database file": errno.EACCES,
    "No usable temporary directory": errno.ENOSPC,
}
"""What libraries say instead of a number."""


def free_room(path: Path, reserve: bool = False) -> int | None:
    """Bytes that a file at `path` may take, as far as the system tells; None if it does not.

    The least of what its disk has free and of the limit of this process (`ulimit -f`). Quotas of
    users are unknown until a write fails. With `reserve` what is kept for root counts too.
    """
    found = []
    try:
        place = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
        disk = os.statvfs(place)
        blocks = disk.f_bfree if reserve else disk.f_bavail
        if disk.f_blocks:  # Some file systems of networks count nothing.
            found.append(blocks * disk.f_frsize)
    except (OSError, AttributeError, StopIteration):
        pass
    limit = _size_limit()
    return min([*found, *([] if limit is None else [limit])], default=None)


def require_room(path: Path, needed: float, advice: str = "") -> None:
    """Refuse to begin work whose result at `path` cannot fit; estimates must be on the low side."""
    free = free_room(path, reserve=hasattr(os, "geteuid") and os.geteuid() == 0)
    if free is not None and needed > free:
        raise unwritable(path, OutOfRoomError(errno.ENOSPC, needed), advice)


class OutOfRoomError(OSError):
    """A write that failed, with the bytes that the whole file would have taken."""

    def __init__(self, number: int, needed: float) -> None:
        super().__init__(number, os.strerror(number))
        self.needed = needed

    @classmethod
    def of(cls, error: OSError, needed: float) -> "OutOfRoomError":
        """The same error with the size of what was to be written."""
        return cls(error.errno or errno.EIO, needed)


def disk_error(error: BaseException) -> OSError | None:
    """The error of the file system behind an exception; None if there is none.

    Libraries hide it in the text of errors of their own, or raise others in its wake.
    """
    if isinstance(error, PgodeError):
        return None
    if isinstance(error, OSError) and error.errno in DISK:
        return error
    number = _number(error)
    if number is not None:
        return OSError(number, os.strerror(number))
    if isinstance(error, OSError) and error.errno is not None:
        return error
    for other in (error.__cause__, error.__context__):
        found = None if other is None else disk_error(other)
        if found is not None and found.errno in DISK:
            return found
    return None


def unwritable(path: Path, error: OSError, advice: str = "") -> WriteError:
    """The error for a path that cannot be written, with what is there now and what to do."""
    exists = os.path.lexists(path) if _is_possible(path) else False
    kept = "What was there before is unchanged" if exists else "Nothing was written there"
    if error.errno not in FULL:
        return WriteError(
            f"cannot write {path}: {error.strerror or error}. {kept}. Expected a folder that can "
            f"be written to. {advice or 'Choose another output path.'}",
            path,
            error,
        )
    reason, remedy = {
        errno.ENOSPC: ("there is no room left on its disk", "Make room there"),
        errno.EDQUOT: ("your quota on its disk is used up", "Make room there"),
        errno.EFBIG: ("it would be larger than ulimit -f allows", "Raise that limit"),
    }[error.errno]
    return WriteError(
        f"cannot write {path}: {reason}{_figures(path, error)}. {kept}. Expected enough room. "
        f"{advice or f'{remedy}, or choose another output path.'}",
        path,
        error,
    )


def unforeseen(error: Exception) -> WriteError | None:
    """The error for a disk that failed where nobody expected it; None for any other failure.

    Libraries write caches and temporary files of their own.
    """
    refused = disk_error(error)
    if refused is None or refused.errno not in DISK:
        return None
    named = refused.filename if isinstance(refused.filename, str) else "output or temporary files"
    if refused.errno in FULL:
        return unwritable(Path(named), refused)
    return WriteError(
        f"cannot use {named}: {refused.strerror}. Expected files that this user may read and "
        f"write. Correct their permissions, or choose another path."
    )


def _figures(path: Path, error: OSError) -> str:
    """What is needed and what there is, as far as both are known."""
    needed = getattr(error, "needed", None)
    left = {errno.ENOSPC: free_room(path), errno.EFBIG: _size_limit()}.get(error.errno or 0)
    verb = "free" if error.errno == errno.ENOSPC else "allowed"
    figures = [f"it needs about {size_text(needed)}"] if needed else []
    figures += [f"{size_text(left)} are {verb}"] if left is not None else []
    return f" ({', '.join(figures)})" if figures else ""


def _size_limit() -> int | None:
    try:
        import resource
    except ImportError:  # On Windows.
        return None
    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def _number(error: BaseException) -> int | None:
    """The number of a disk's error within the text of another error."""
    text = str(error)
    found = re.search(r"(?:errno = |os error |Errno )(\d+)", text)
    if found and int(found[1]) in DISK:
        return int(found[1])
    for number in DISK:
        if os.strerror(number) in text:
            return number
    return next((number for words, number in WORDS.items() if words in text), None)


def _is_possible(path: Path) -> bool:
    return "\0" not in str(path)
