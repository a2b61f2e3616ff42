"""Arrays that stay in a file give the values that an array in memory would."""

from dataclasses import dataclass

import numpy as np
import pytest

from pgode.data.large.stored import Place, StoredArray
from pgode.runtime.errors import InputError

SHAPE = (6, 5, 40, 3)
VALUES = np.random.default_rng(0).normal(size=SHAPE)


@dataclass
class InMemory:
    """A source that counts what is read of it."""

    chunks: tuple[int, ...] = (1, 1, 1, 1)
    name: str = "states"
    shape: tuple[int, ...] = SHAPE
    dtype: np.dtype = np.dtype(np.float64)  # noqa: RUF009
    values_read: int = 0

    def read(self, place: Place) -> np.ndarray:
        part = VALUES[place.systems, place.objects, place.frames]
        self.values_read += part.size
        return part


@pytest.fixture
def array() -> StoredArray:
    return StoredArray(InMemory())


def test_selecting_systems_and_frames_reads_nothing_and_can_be_repeated(array):
    chosen = array[np.array([4, 1, 5])][:, :, 10:30][[2, 0]][:, :, 3:9]
    assert isinstance(chosen, StoredArray)
    assert array.source.values_read == 0
    np.testing.assert_array_equal(np.asarray(chosen), VALUES[[5, 4], :, 13:19])


@pytest.mark.parametrize(
    "key",
    [
        2,
        (slice(None), 1),
        (slice(1, 4), slice(None), slice(None, None, 2)),
        (np.array([3, 0]), slice(None), slice(5, 9), 2),
        (..., 1),
        (-1, slice(None), 7),
    ],
)
def test_any_other_selection_is_that_of_an_array(array, key):
    np.testing.assert_array_equal(np.asarray(array[key]), VALUES[key])


def test_windows_are_read_alone_in_the_order_asked_for(array):
    rows, starts = np.array([5, 0, 5, 1, 2]), np.array([3, 0, 2, 0, 33])
    found = array.windows(rows, starts, 7)
    for k, (row, start) in enumerate(zip(rows, starts, strict=True)):
        np.testing.assert_array_equal(found[k], VALUES[row, :, start : start + 7])
    assert array.source.values_read == found.size


def test_a_window_beyond_the_end_is_nan_there(array):
    found = array.windows(np.array([1]), np.array([37]), 5)
    np.testing.assert_array_equal(found[0, :, :3], VALUES[1, :, 37:])
    assert np.isnan(found[0, :, 3:]).all()


@pytest.mark.parametrize("memory", ["1MB", "200kB", "66kB"])
@pytest.mark.parametrize("chunks", [(1, 1, 1, 1), (2, 2, 16, 3)])
def test_blocks_hold_all_values_in_the_order_of_an_array(memory, chunks, monkeypatch):
    monkeypatch.setenv("PGODE_MEMORY", memory)
    array = StoredArray(InMemory(chunks))[np.array([0, 2, 3, 5])][:, :, 2:]
    pieces = [piece.ravel() for piece in array.pieces()]
    assert len(pieces) > 1
    np.testing.assert_array_equal(np.concatenate(pieces), VALUES[[0, 2, 3, 5], :, 2:].ravel())


def test_blocks_of_frames_of_single_objects_where_series_are_long(monkeypatch):
    monkeypatch.setenv("PGODE_MEMORY", "1kB")
    monkeypatch.setattr("pgode.data.large.stored.block_bytes", lambda: 10 * 3 * 8)
    pieces = list(StoredArray(InMemory()).pieces())
    assert {piece.shape for piece in pieces} == {(1, 1, 10, 3)}
    np.testing.assert_array_equal(np.concatenate([p.ravel() for p in pieces]), VALUES.ravel())


def test_what_does_not_fit_into_memory_is_refused_with_the_memory_it_needs(array, monkeypatch):
    monkeypatch.setenv("PGODE_MEMORY", "20kB")
    with pytest.raises(InputError, match=r"all states at once needs about 57\.6 kB .* 20 kB are"):
        np.asarray(array)
    assert array.source.values_read == 0
