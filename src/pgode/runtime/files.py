"""Writing files so that a reader sees the old content or the new, never a mixture."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pgode.runtime.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; on success flush it and rename it to `path`.

    Works for a file or a folder (zarr). On an error the temporary is removed and `path` is
    unchanged.
    """
    path = Path(path)
    writable_folder(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(handle)
    temporary, old = Path(name), Path(name).with_suffix(".old")
    temporary.unlink()
    try:
        yield temporary
        if temporary.is_dir():
            # A folder cannot replace one that is not empty, so the old one is renamed first.
            if path.exists():
                path.rename(old)
        else:
            temporary.chmod(0o644)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        if error.errno is None:  # Not from the file system: its own message explains it better.
            raise
        raise _unwritable(path, error) from None
    finally:
        if old.is_dir() and not path.exists():
            old.rename(path)
        for left in (temporary, old):
            if left.is_dir():
                shutil.rmtree(left)
            left.unlink(missing_ok=True)


def writable_folder(path: Path) -> None:
    """Check, before any long work starts, that `path` can be written; nothing is created."""
    try:
        existing = next(folder for folder in path.absolute().parents if folder.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None


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


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` with `text` in one step."""
    with replacing(path) as temporary:
        # Names of files may hold bytes that are no text, and pages and tables state them.
        temporary.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_json(path: Path, content: Any) -> None:
    """Replace the file at `path` with `content` as indented JSON; NaN, which is not JSON, fails."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"cannot write {path}: {error.strerror or error}. "
        f"Expected a folder that can be written to. Choose another output path."
    )
