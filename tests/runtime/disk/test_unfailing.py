"""A file whose writes never fail for the writer, and NetCDF through it on a disk that is full."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pgode.runtime.disk.room import OutOfRoomError
from pgode.runtime.disk.unfailing import UnfailingFile, unfailing_file, uninterrupted


def written(file: UnfailingFile) -> bytes:
    for place, content in ((0, b"abcdef"), (10, b"xyz"), (4, b"EFGH")):
        file.seek(place)
        assert file.write(content) == len(content)
    file.seek(0)
    return file.read(100)


def test_it_is_a_file_like_any_other(tmp_path: Path) -> None:
    with unfailing_file(tmp_path / "a") as file:
        assert written(file) == b"abcdEFGH\0\0xyz"
        file.truncate(9)
        assert file.seek(0, 2) == 9
    assert (tmp_path / "a").read_bytes() == b"abcdEFGH\0"


def test_what_the_disk_does_not_take_can_be_read_and_is_an_error_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = os.pwrite

    def short(handle: int, data: bytes, place: int) -> int:
        if place >= 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(handle, data[: 5 - place], place)

    monkeypatch.setattr(os, "pwrite", short)
    with pytest.raises(OutOfRoomError) as raised, unfailing_file(tmp_path / "a") as file:
        assert written(file) == b"abcdEFGH\0\0xyz"
    assert (raised.value.errno, raised.value.needed) == (errno.ENOSPC, 13)


def test_a_signal_waits_until_the_block_has_ended() -> None:
    order: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: order.append("signal"))
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            order.append("work")
        assert order == ["work", "signal"]
    finally:
        signal.signal(signal.SIGTERM, before)


WRITER = """
import os, resource, sys
from pathlib import Path
import numpy as np
from pgode.data import files
from pgode.data.files.parts import write_parts
from pgode.data.simulate import simulate
from pgode.runtime.errors import WriteError

data = simulate("springs", objects=3, frames=20, train=16, val=0, test=0, ood=0)
folder = Path(sys.argv[1])
writers = {
    "a.nc": lambda path: files.write(data, path, overwrite=True),
    "b.nc": lambda path: write_parts((data.select(np.arange(k, k + 8)) for k in (0, 8)),
                                     path, compress=False, overwrite=True),
    "c.zarr": lambda path: files.write(data, path, overwrite=True),
}
for name, write in writers.items():
    path = folder / name
    write(path)
    size = path.stat().st_size if path.is_file() else 3000
    content = path.read_bytes() if path.is_file() else None
    for limit in (0, 47, 2048, size // 2, size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            write(path)
        except WriteError as error:
            text = str(error)
            assert f"cannot write {path}: it would be larger than ulimit -f allows" in text, text
            assert "What was there before is unchanged." in text, text
        else:
            raise AssertionError((name, limit))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        assert sorted(os.listdir(folder)) == sorted(n for n in writers if (folder / n).exists())
        assert content is None or path.read_bytes() == content
    assert files.read(path).hash == data.hash
print("all refused")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
def test_no_size_at_which_a_disk_is_full_ends_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all refused\n", "")
