"""Any bytes, and any change of a real file, give the same numbers or are refused."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.files.fuzz.mutation import attempt, changes
from tests.small_systems import uneven

from pgode.data import files
from pgode.data.files.guard.integrity import attribute_hash

STARTS = [b"", b"\x89HDF\r\n\x1a\n", b"PK\x03\x04"]
# h5netcdf's destructor stumbles over files whose opening failed; that is not ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fuzz")
    data = uneven()
    files.write(data, place / "good.nc")
    files.write(data, place / "good.zarr")
    np.savez_compressed(
        place / "good.npz",
        states=data.states,
        observed=data.observed,
        times=data.times,
        present=data.present,
        edges=np.zeros((data.systems, data.objects, data.objects)),
        split=data.split,
    )
    return place


def numbers(path: Path) -> tuple[str, str] | None:
    """The hashes of a file's content and attributes; None if it is refused."""
    found = []

    def read() -> None:
        data = files.read(path)
        found.append((data.hash, attribute_hash(data.dataset.attrs)))

    attempt(read)
    return found[0] if found else None


right = cache(numbers)


@pytest.mark.parametrize("ending", [".nc", ".npz", ".h5"])
@given(content=st.binary(max_size=200), start=st.sampled_from(STARTS))
def test_any_bytes_are_refused(folder: Path, ending: str, start: bytes, content: bytes) -> None:
    path = folder / f"bytes{ending}"
    path.write_bytes(start + content)
    assert attempt(lambda: files.read(path)) == "refused"


@pytest.mark.parametrize("ending", [".nc", ".npz"])
@given(change=changes())
def test_a_changed_file_gives_the_same_numbers_or_none(
    folder: Path, ending: str, change: Callable[[bytes], bytes]
) -> None:
    path = folder / f"changed{ending}"
    good = folder / f"good{ending}"
    path.write_bytes(change(good.read_bytes()))
    assert numbers(path) in (None, right(good))


@given(change=changes(), number=st.integers(0, 10**6))
def test_a_changed_zarr_folder_gives_the_same_numbers_or_none(
    folder: Path, change: Callable[[bytes], bytes], number: int
) -> None:
    path, good = folder / "changed.zarr", folder / "good.zarr"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(good, path)
    parts = sorted(each for each in path.rglob("*") if each.is_file())
    part = parts[number % len(parts)]
    part.write_bytes(change(part.read_bytes()))
    assert numbers(path) in (None, right(good))
