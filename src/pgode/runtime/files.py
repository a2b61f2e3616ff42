"""Writing files so that a reader sees the old content or the new, never a mixture."""

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pgode.runtime.disk import leftovers
from pgode.runtime.disk.claims import check_claims
from pgode.runtime.disk.room import OutOfRoomError, disk_error, unwritable
from pgode.runtime.disk.swapping import exchanged
from pgode.runtime.errors import InputError, WriteError
from pgode.runtime.stopping import kept
from pgode.runtime.stopping import leftovers as unfinished
from pgode.runtime.stopping.command import undisturbed


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; on success flush it and rename it to `path`.

    Works for a file or a folder (zarr). On an error, or when the process is asked to stop, the
    temporary is removed and `path` is unchanged; what the file system refuses is a `WriteError`.
    Temporaries that killed processes left in that folder are removed first.
    """
    path = Path(path)
    writable_folder(path)
    temporary, old = leftovers.temporary_name(path), leftovers.temporary_name(path, "old")
    made = [each for each in path.absolute().parents if not each.exists()]
    unfinished.begun(temporary, old, path, made)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        leftovers.sweep(path.parent)
        yield temporary
        check_claims(path)
        _flush(temporary)
        with undisturbed():
            _move_in(temporary, old, path)
            kept.written(path)
    except Exception as error:
        leftovers.remove_with_others(temporary)
        refused = _refused(error, temporary)
        if refused is None:
            raise
        raise unwritable(path, refused) from None
    finally:
        leftovers.remove(temporary)
        if not os.path.lexists(path):
            for folder in made:
                with suppress(OSError):  # Somebody else uses it by now.
                    folder.rmdir()
        unfinished.ended(temporary)


def _flush(temporary: Path) -> None:
    """Let a finished file reach the disk before its name does."""
    if not temporary.is_dir():
        temporary.chmod(0o644)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())


def _move_in(temporary: Path, old: Path, path: Path) -> None:
    """Put a finished temporary in the place of what is at `path`."""
    if not temporary.is_dir() or not os.path.lexists(path):
        temporary.replace(path)
    elif not exchanged(temporary, path):
        # A folder cannot replace one that is not empty, so the old one is renamed first.
        path.rename(old)
        try:
            temporary.replace(path)
        except BaseException:
            old.rename(path)
            raise
        leftovers.remove(old)


def _refused(error: Exception, temporary: Path) -> OSError | None:
    """What the file system refused; None if the error is not its doing, or says all by itself."""
    if isinstance(error, WriteError):
        # Of a file within a folder that is written: the user knows only the folder.
        inside = error.path is not None and error.path.is_relative_to(temporary)
        return error.reason if inside else None
    return disk_error(error)


def writable_folder(path: Path) -> None:
    """Check, before any long work starts, that `path` can be written; nothing is created."""
    check_claims(path)
    try:
        existing = next(folder for folder in path.absolute().parents if folder.exists())
        with suppress(FileNotFoundError, NotADirectoryError):
            _refuse_device(path)  # A name that is too long is found here, too.
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise unwritable(path, error) from None


def _refuse_device(path: Path) -> None:
    """A device, a pipe or a link to one would itself be replaced, for all who use it."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(
            f"cannot write {path}: it is a device or a pipe. Expected a file, which is replaced as "
            f"a whole. Choose another output path."
        )


def writable_file(path: Path) -> None:
    """The same for a file, which cannot replace a folder of that name."""
    if path.is_dir():
        raise InputError(
            f"cannot write {path}: a folder of that name is in the way. Expected the name of a "
            f"file. Choose another output path."
        )
    writable_folder(path)


def file_size(path: Path) -> str:
    """The size of a file for people, such as 1.2 MB."""
    size = path.stat().st_size
    power = min(max(len(str(size)) - 1, 0) // 3, 3)
    return f"{size / 1000**power:.3g} {('bytes', 'kB', 'MB', 'GB')[power]}"


def write_bytes(path: Path, content: bytes) -> None:
    """Replace the file at `path` with `content` in one step."""
    with replacing(path) as temporary:
        try:
            temporary.write_bytes(content)
        except OSError as error:
            raise OutOfRoomError.of(error, len(content)) from None


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` with `text` in one step."""
    # Names of files may hold bytes that are no text, and pages and tables state them.
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: Path, content: Any) -> None:
    """Replace the file at `path` with `content` as indented JSON; NaN, which is not JSON, fails."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")
