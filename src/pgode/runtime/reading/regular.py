"""Opening of regular files: fifos, devices, sockets and folders are refused before they are opened.

Opening a fifo waits for its writer, opening a device may change it, and reading one need not end.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from pgode.runtime.errors import InputError
from pgode.runtime.memory import size_text

KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe (fifo)"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISSOCK, "socket"),
)
EXPECTED = "a regular file, or a link to one"


def check_file(path: Path | str, what: str = "", expected: str = EXPECTED) -> os.stat_result:
    """Refuse what is no regular file, without opening it.

    `what` is put before the path in errors ("the config"), `expected` says what was.
    """
    path = Path(path)
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # A path with a NUL character is a ValueError.
        raise _unreadable(path, what, expected, error) from None
    _check_kind(path, found, what, expected)
    return found


def check_folder(path: Path | str, what: str = "", expected: str = "a folder") -> None:
    """Refuse what is no folder."""
    path = Path(path)
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        raise _unreadable(path, what, expected, error) from None
    if not stat.S_ISDIR(found.st_mode):
        kind = _kind(found) or "file"
        raise InputError(
            f"cannot read {_named(path, what)}: it is a {kind}. Expected {expected}. Check the "
            f"path."
        )


def open_file(path: Path | str, what: str = "", expected: str = EXPECTED) -> BinaryIO:
    """Open a regular file for reading.

    A file can be exchanged for a fifo between the check and the opening: `O_NONBLOCK` keeps such
    an opening from waiting, and what was opened is checked again.
    """
    path = Path(path)
    check_file(path, what, expected)
    flags = os.O_RDONLY
    for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)  # Not all systems have all of them.
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise _unreadable(path, what, expected, error) from None
    try:
        _check_kind(path, os.fstat(handle), what, expected)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(
    path: Path | str, what: str = "", limit: int = 2**24, expected: str = EXPECTED
) -> bytes:
    """The bytes of a file of at most `limit` bytes; of a larger one, not more than that is read.

    The size that the system tells is not relied on: files of /proc have none, and others grow.
    """
    path = Path(path)
    with open_file(path, what, expected) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            content = file.read(limit + 1) if size <= limit else b""
        except OSError as error:
            raise _unreadable(path, what, expected, error) from None
    if size > limit or len(content) > limit:
        larger = f"it has {size_text(size)}" if size > limit else "it is larger than it says"
        raise InputError(
            f"cannot read {_named(path, what)}: {larger}, and at most {size_text(limit)} are read. "
            f"Expected {expected} of that size. Check the path, or shorten the file."
        )
    return content


def _check_kind(path: Path, found: os.stat_result, what: str, expected: str) -> None:
    kind = _kind(found)
    if kind is not None:
        raise InputError(
            f"cannot read {_named(path, what)}: it is a {kind}. Expected {expected}. "
            f"{'Check the path.' if kind == 'folder' else 'Copy what it holds to a file first.'}"
        )


def _kind(found: os.stat_result) -> str | None:
    """What a path is, if it is no regular file."""
    if stat.S_ISREG(found.st_mode):
        return None
    return next((name for is_kind, name in KINDS if is_kind(found.st_mode)), "special file")


def _unreadable(path: Path, what: str, expected: str, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    looped = getattr(error, "errno", None) == errno.ELOOP
    if missing:
        reason = "there is no such file"
    elif looped:
        reason = "it is a link that leads to itself"
    elif isinstance(error, PermissionError):
        return InputError(
            f"cannot read {_named(path, what)}: {reason}. Expected {expected} that may be read. "
            f"Change its permissions, or give another file."
        )
    return InputError(
        f"cannot read {_named(path, what)}: {reason}. Expected {expected}. Check the path."
    )


def _named(path: Path, what: str) -> str:
    return f"{what} {path}" if what else str(path)
