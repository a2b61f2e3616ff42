"""Writing files so that a reader sees the old content or the new, never a half of either."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pgode.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the target's folder; on success flush it and rename it to `path`.

    Works for a file or a folder (zarr). On an error the temporary is removed and `path` is
    as it was before.
    """
    path = Path(path)
    writable_folder(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    temporary.unlink()
    try:
        yield temporary
        if temporary.is_dir():
            if path.exists():
                shutil.rmtree(path)
        else:
            temporary.chmod(0o644)
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        if temporary.is_dir():
            shutil.rmtree(temporary)
        temporary.unlink(missing_ok=True)


def writable_folder(path: Path) -> None:
    """Check, before any long work starts, that `path` can be written; make its folder if needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror or error}. "
            f"Expected a folder that can be written to. Choose another output path."
        ) from None


def write_text(path: Path, text: str) -> None:
    """Replace the file at `path` with `text` in one step."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Replace the file at `path` with `content` as indented JSON. NaN is refused: it is not JSON."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")
