"""Room on a disk, and what is said of a disk that refuses."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from safetensors import SafetensorError

from pgode.data.files.size import least_bytes
from pgode.runtime.disk.room import (
    OutOfRoomError,
    disk_error,
    free_room,
    require_room,
    unforeseen,
    unwritable,
)
from pgode.runtime.errors import InputError, WriteError


def chained(inner: Exception) -> Exception:
    try:
        try:
            raise inner
        except Exception:
            raise ValueError("in its wake")  # noqa: B904
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    "error, number",
    [
        (OSError(errno.ENOSPC, "x"), errno.ENOSPC),
        (OSError(errno.ENOENT, "x"), errno.ENOENT),
        (SafetensorError("I/O error: No space left on device (os error 28)"), errno.ENOSPC),
        (RuntimeError("can't write (errno = 122, error message = '...')"), errno.EDQUOT),
        (OSError("Unable to flush: errno = 27"), errno.EFBIG),
        (RuntimeError("(sqlite3.OperationalError) database or disk is full"), errno.ENOSPC),
        (FileNotFoundError(2, "No usable temporary directory found in []"), errno.ENOSPC),
        (chained(OSError(errno.EIO, "x")), errno.EIO),
        (chained(OSError(errno.ENOENT, "x")), None),
        (InputError("No space left on device"), None),
        (ValueError("something else"), None),
    ],
)
def test_the_error_of_the_disk_is_found_in_errors_of_libraries(
    error: Exception, number: int | None
) -> None:
    found = disk_error(error)
    assert (found.errno if found else None) == number
    assert (unforeseen(error) is None) == (number in (None, errno.ENOENT))


@pytest.mark.parametrize(
    "number, words",
    [
        (errno.ENOSPC, "there is no room left on its disk (it needs about 2 MB, "),
        (errno.EDQUOT, "your quota on its disk is used up (it needs about 2 MB). "),
        (errno.EFBIG, "it would be larger than ulimit -f allows (it needs about 2 MB). "),
        (errno.EROFS, "Read-only file system. "),
        (errno.EACCES, "Permission denied. "),
        (errno.EIO, "Input/output error. "),
    ],
)
def test_the_error_says_why_and_what_is_kept(number: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    text = str(unwritable(path, OutOfRoomError(number, 2e6)))
    assert text.startswith(f"cannot write {path}: {words}")
    assert "Nothing was written there. Expected " in text
    path.touch()
    assert "What was there before is unchanged." in str(unwritable(path, OSError(number, "")))


def test_work_that_cannot_fit_is_refused_before_it_begins(tmp_path: Path) -> None:
    free = free_room(tmp_path / "new" / "a")
    assert free is not None and free > 0
    require_room(tmp_path / "a", 1000)
    with pytest.raises(WriteError, match=r"it needs about 1 PB, [0-9.e+]+ .B are free"):
        require_room(tmp_path / "a", 1e15)


def test_the_limit_of_the_process_counts(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12345, before[1]))
    try:
        assert free_room(tmp_path) == 12345
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("noise, share", [(True, 0.9), (False, 0.0)])
def test_the_size_of_a_file_is_estimated_from_pieces(noise: bool, share: float) -> None:
    values = np.random.default_rng(0).normal(size=2**22) if noise else np.ones(2**22)
    ds = xr.Dataset({"states": ("x", values), "few": ("y", np.ones(5))})
    assert least_bytes(ds) == pytest.approx(0.8 * share * values.nbytes, abs=0.02 * values.nbytes)
    assert least_bytes(ds.isel(x=slice(1000))) == 0


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="only Linux has that device")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_that_goes_to_a_full_disk_gives_no_traceback(stream: str) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: full}
        words = ["--help"] if stream == "stdout" else ["no-such-command"]
        command = [sys.executable, "-m", "pgode.cli", *words]
        done = subprocess.run(command, **streams, env={**os.environ, "PYTHONUNBUFFERED": ""})
    assert done.returncode == 2
    said = done.stderr if stream == "stdout" else done.stdout
    assert b"Traceback" not in said and b"Exception ignored" not in said
    if stream == "stdout":
        assert said.count(b"Error: ") == 1
