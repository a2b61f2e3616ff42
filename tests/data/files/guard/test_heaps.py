"""Heaps that the HDF5 library would walk without end are refused before it opens the file."""

import struct
from pathlib import Path

import pytest
from tests.trained_runs import data_file

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.files.guard.heaps import HEAD, START, check_heaps
from pgode.data.files.guard.superblock import SIGNATURE
from pgode.runtime.errors import InputError


def first_heap(content: bytes) -> tuple[int, int]:
    """The place of the first entry of a heap, and that of its free rest."""
    start = content.find(START)
    place = start + HEAD
    while True:
        number, length = struct.unpack_from("<HxxxxxxQ", content, place)
        if number == 0:
            return start + HEAD, place
        place += 16 + -(-length // 8) * 8


def damaged(tmp_path: Path, *, longer: bool) -> Path:
    """Data whose free rest has no size, or with an entry that leads into zeros."""
    content = bytearray(data_file().read_bytes())
    entry, rest = first_heap(content)
    if longer:
        struct.pack_into("<Q", content, entry + 8, rest - entry + 16)
    else:
        struct.pack_into("<Q", content, rest + 8, 0)
    path = tmp_path / "damaged.nc"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("longer", [False, True])
def test_a_heap_without_an_end_is_an_error_and_no_hang(tmp_path, longer, capsys):
    path = damaged(tmp_path, longer=longer)
    with pytest.raises(InputError, match="does not end"):
        files.read(path)
    assert run_command(["info", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_good_and_empty_files_pass(tmp_path):
    check_heaps(data_file())
    empty = tmp_path / "empty.nc"
    empty.write_bytes(b"")
    check_heaps(empty)
    (tmp_path / "cut.nc").write_bytes(b"x" * 100 + START)
    check_heaps(tmp_path / "cut.nc")


@pytest.mark.parametrize("longer", [False, True])
def test_heaps_of_large_files_are_searched_between_the_values(tmp_path, longer, monkeypatch):
    monkeypatch.setattr("pgode.data.files.guard.hdf5.SEARCHED", 0)
    files.read(data_file())
    with pytest.raises(InputError, match="does not end"):
        files.read(damaged(tmp_path, longer=longer))


def test_values_are_not_searched_and_blocks_overlap(tmp_path, monkeypatch):
    monkeypatch.setattr("pgode.data.files.guard.heaps.BLOCK", 16)
    for place in range(40, 60):
        content = bytearray(200)
        heap = START + struct.pack("<Q", 64)
        content[place : place + len(heap)] = heap
        path = tmp_path / "values.h5"
        path.write_bytes(SIGNATURE + b"\2\x08\x08" + content)
        with pytest.raises(ValueError, match="does not end"):
            check_heaps(path)
        check_heaps(path, [(30, 100)])


def test_heaps_that_lie_in_each_other_are_refused_at_once(tmp_path):
    size = 2**20
    block = START + struct.pack("<Q", 0) + struct.pack("<HHxxxxQ", 1, 0, 16)
    content = bytearray(SIGNATURE + b"\2\x08\x08" + block * (size // len(block)))
    for place in range(11, len(content), len(block)):
        struct.pack_into("<Q", content, place + 8, len(content) - place)
    path = tmp_path / "nested.h5"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="lies in others"):
        check_heaps(path)
