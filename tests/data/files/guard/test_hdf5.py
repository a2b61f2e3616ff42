"""HDF5 files that lead elsewhere or claim too much are refused, quickly and without being read."""

import os
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.plain_trajectories import build

from pgode.data import files
from pgode.data.files.guard.hdf5 import check_hdf5
from pgode.runtime.errors import InputError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.nc"
    files.write(build(), path)
    return path


def external_link(file: h5py.File, secret: Path) -> None:
    file["more"] = h5py.ExternalLink(str(secret), "/states")


def soft_link(file: h5py.File, secret: Path) -> None:
    file["more"] = h5py.SoftLink("/states")


def external_storage(file: h5py.File, secret: Path) -> None:
    file.create_dataset("more", (8,), "u1", external=[(str(secret), 0, 8)])


def virtual(file: h5py.File, secret: Path) -> None:
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "states", (4,))
    file.create_virtual_dataset("more", layout)


def loop(file: h5py.File, secret: Path) -> None:
    file.create_group("a")["b"] = file["/"]
    file["a/c"] = file["a"]


def petabytes(file: h5py.File, secret: Path) -> None:
    file.create_dataset("more", (2**50,), "f8", chunks=(2**20,))


def huge_chunk(file: h5py.File, secret: Path) -> None:
    file.create_dataset("more", (1,), "f8", maxshape=(None,), chunks=(2**28,), compression="gzip")


def bomb(file: h5py.File, secret: Path) -> None:
    kept = file.create_dataset("more", (2**27,), "u8", chunks=(2**20,), compression=9)
    kept[: 2**20] = 0


def repeated_text(file: h5py.File, secret: Path) -> None:
    kept = file.create_dataset("more", (2**20,), h5py.string_dtype(), chunks=(2**16,))
    kept[0] = "x" * 10_000
    mask, raw = kept.id.read_direct_chunk((0,))
    for start in range(0, 2**20, 2**16):
        kept.id.write_direct_chunk((start,), raw[:16] * 2**16, mask)


def lists(file: h5py.File, secret: Path) -> None:
    file.create_dataset("more", (3,), h5py.vlen_dtype(np.float64))


def many(file: h5py.File, secret: Path) -> None:
    for number in range(100):
        file.create_group(f"g{number}")


@pytest.mark.parametrize(
    "attack, said",
    [
        (external_link, "/more is another file"),
        (soft_link, "/more is a link"),
        (external_storage, "/more is stored in another file"),
        (virtual, "/more is a view of other datasets"),
        (loop, "occurs twice"),
        (petabytes, "would hold 9.01 PB"),
        (huge_chunk, "would hold 2.15 GB"),
        (bomb, "would hold 1.07 GB"),
        (repeated_text, "would hold"),
        (lists, "lists of varying length"),
        (many, "more than 100 groups"),
    ],
)
def test_a_file_that_reaches_elsewhere_or_claims_too_much_is_refused(
    data: Path,
    attack: Callable[[h5py.File, Path], None],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgode.data.files.guard.hdf5.MEMBERS", 100)
    secret = data.with_name("secret")
    secret.write_bytes(b"secret!!" * 10)
    with h5py.File(data, "a") as file:
        attack(file, secret)
    with pytest.raises(InputError, match=said):
        files.read(data)


@pytest.mark.parametrize("filters", [{}, {"compression": 4}, {"compression": 4, "shuffle": True}])
@pytest.mark.parametrize("chunks", [None, (2,)])
def test_texts_are_measured_in_whatever_way_they_are_stored(
    tmp_path: Path, filters: dict[str, object], chunks: tuple[int] | None
) -> None:
    from pgode.data.files.guard.variable_text import text_bytes

    words = ["eins", "zwei", "dreiß", ""]
    with h5py.File(tmp_path / "text.h5", "w") as file:
        file.create_dataset(
            "words", data=words, dtype=h5py.string_dtype(), chunks=chunks, **filters
        )
    with h5py.File(tmp_path / "text.h5") as file:
        found = text_bytes(tmp_path / "text.h5", "words", file["words"], 10_000)
    assert found == sum(len(word.encode()) for word in words)


@pytest.mark.parametrize("sizes", [(4, 4), (4, 8), (8, 8)])
def test_addresses_of_any_size_are_understood(tmp_path: Path, sizes: tuple[int, int]) -> None:
    settings = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    settings.set_sizes(*sizes)
    path = tmp_path / "small.h5"
    made = h5py.h5f.create(str(path).encode(), h5py.h5f.ACC_TRUNC, fcpl=settings)
    with h5py.File(made) as file:
        file.create_dataset("words", data=["ein", "zwei"] * 20, dtype=h5py.string_dtype())
    check_hdf5(path)


def test_texts_in_a_header_are_accepted_beside_large_values(tmp_path: Path) -> None:
    path = tmp_path / "compact.h5"
    with h5py.File(path, "w") as file:
        file["values"] = np.zeros(2**22)
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_layout(h5py.h5d.COMPACT)
        kind = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
        words = h5py.h5d.create(file.id, b"words", kind, h5py.h5s.create_simple((10,)), settings)
        h5py.Dataset(words)[:] = ["a"] * 10
    check_hdf5(path)


def test_fifos_devices_and_folders_are_refused_as_data(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.nc")
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    (tmp_path / "folder.nc").mkdir()
    os.mkfifo(tmp_path / "fifo.zarr")
    for name, said in {
        "fifo.nc": "named pipe",
        "zero.npz": "device",
        "folder.nc": "folder",
        "fifo.zarr": "named pipe",
    }.items():
        with pytest.raises(InputError, match=said):
            files.read(tmp_path / name)


def test_a_hole_in_a_file_does_not_count_as_content(data: Path) -> None:
    with h5py.File(data, "a") as file:
        # Allocated at once, but never written: a hole of a gigabyte.
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        settings.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        space = h5py.h5s.create_simple((2**27,))
        h5py.h5d.create(file.id, b"more", h5py.h5t.NATIVE_DOUBLE, space, settings)
    with data.open("r+b") as file:
        file.truncate(2**30 + 2**20)
    with pytest.raises(InputError, match=r"would hold 1\.07 GB"):
        files.read(data)
