"""A zarr folder whose own description is damaged."""

from pathlib import Path

import pytest
from tests.plain_trajectories import build

from pgode.data import files
from pgode.runtime.errors import InputError


def test_what_zarr_does_not_recognise_is_an_error_without_warnings(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    path = tmp_path / "data.zarr"
    files.write(build(), path)
    group = path / ".zgroup"
    group.write_bytes(group.read_bytes().replace(b"zarr_format", b"zarr_farmot"))
    with pytest.raises(InputError, match=r"data\.zarr"):
        files.read(path)
    assert not recwarn.list
