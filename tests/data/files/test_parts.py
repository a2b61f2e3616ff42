"""Files that are written part after part hold what a file written at once holds."""

import numpy as np
import pytest
import xarray as xr
from tests.data.large.large_files import both, rich
from tests.plain_trajectories import build
from tests.small_systems import uneven

from pgode.data import files
from pgode.data.files.layout import large_chunks
from pgode.data.files.parts import write_parts
from pgode.runtime.errors import InputError

ENDINGS = pytest.mark.parametrize("ending", ["nc", "zarr"])


@ENDINGS
@pytest.mark.parametrize("compress", [True, False])
@pytest.mark.parametrize("make", [build, uneven, rich])
def test_parts_become_one_file(tmp_path, ending, compress, make):
    data, path = make(), tmp_path / f"data.{ending}"
    write_parts((data.select([k]) for k in range(data.systems)), path, compress=compress)
    assert files.read(path).hash == data.hash
    with xr.open_dataset(path) as written:
        assert written.attrs["content_hash"] == data.hash


@ENDINGS
def test_the_mask_is_written_once_a_part_needs_it(tmp_path, ending):
    observed = np.ones((3, 4, 5, 4), bool)
    observed[1, 2, 3] = False
    data, path = build(observed=observed), tmp_path / f"data.{ending}"
    write_parts((data.select([k]) for k in range(3)), path)
    assert files.read(path).hash == data.hash
    write_parts([build()], path, overwrite=True)
    assert files.read(path).hash == build().hash


@ENDINGS
def test_data_that_stay_in_a_file_are_copied_in_parts(tmp_path, ending, monkeypatch):
    held, stored = both(rich(), tmp_path / "data.nc", monkeypatch)
    monkeypatch.setattr("pgode.data.large.stored.BLOCK", 1500)
    path = tmp_path / f"copy.{ending}"
    files.write(stored.split_of("train"), path)
    copy = files.read(path)
    assert copy.hash == copy.dataset.attrs["content_hash"] == held.split_of("train").hash


def test_parts_that_differ_are_refused_and_leave_nothing(tmp_path):
    path = tmp_path / "data.nc"
    with pytest.raises(InputError, match=r"part 1 of .* has the objects and frames \[4, 3\]"):
        write_parts([build(), build().frames_between(0, 3)], path)
    with pytest.raises(InputError, match="no part was given"):
        write_parts([], path)
    with pytest.raises(InputError, match=r"\.npz is not known"):
        write_parts([build()], tmp_path / "data.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "shape, chunks",
    [
        ((10**6, 10, 60, 4), (13, 10, 60, 4)),  # several short systems
        ((2, 100, 10**6, 6), (1, 8, 170, 6)),  # frames of long series with many objects
        ((2, 10, 1000, 4), (1, 5, 250, 4)),  # cut evenly, for the last chunk is stored whole
        ((2, 2, 10**6, 3), (1, 2, 1365, 3)),
    ],
)
def test_chunks_of_large_files_are_small_enough_for_single_windows(shape, chunks):
    found = large_chunks(("system", "object", "time", "feature"), shape, 8)
    assert found == chunks
    assert np.prod(found) * 8 <= 2**18
