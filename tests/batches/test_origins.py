"""Where windows start."""

import numpy as np
import pytest

from pgode.batches import origins as origins_module
from pgode.batches.origins import Origins, every, parsed
from pgode.runtime.errors import InputError

FRAMES = np.array([10, 5, 3])


def pairs(origins) -> list[tuple[int, int]]:
    return list(zip(origins.systems.tolist(), origins.starts.tolist(), strict=True))


def test_rolling_origins_move_on_by_the_horizon_within_each_system() -> None:
    # Windows of 2 + 3 frames: at 0 and 3 of ten frames, at 0 of five; three frames are too few.
    assert pairs(parsed("rolling", FRAMES, 2, 3)) == [(0, 0), (0, 3), (1, 0), (2, 0)]


def test_all_windows_and_every_second() -> None:
    assert pairs(parsed("all", FRAMES, 2, 3)) == [*((0, k) for k in range(6)), (1, 0), (2, 0)]
    assert pairs(parsed("every:2", FRAMES, 2, 3)) == [(0, 0), (0, 2), (0, 4), (1, 0), (2, 0)]


def test_first_and_last() -> None:
    assert pairs(parsed("first", FRAMES, 2, 3)) == [(0, 0), (1, 0), (2, 0)]
    assert pairs(parsed("last", FRAMES, 2, 3)) == [(0, 5), (1, 0), (2, 0)]


def test_an_offset_moves_windows_where_there_is_room() -> None:
    assert pairs(every(FRAMES, 5, 3, offset=1)) == [(0, 1), (0, 4), (1, 0), (2, 0)]


@pytest.mark.parametrize("text", ["every", "every:0", "every:x", "some", ""])
def test_other_origins_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="Expected first"):
        parsed(text, FRAMES, 2, 3)


def test_chunks_cover_all_in_order() -> None:
    origins = parsed("all", FRAMES, 2, 3)
    parts = list(origins.chunks(3))
    assert [len(part) for part in parts] == [3, 3, 2]
    np.testing.assert_array_equal(np.concatenate([p.starts for p in parts]), origins.starts)


def test_chunks_of_large_systems_are_bounded_by_their_objects(monkeypatch) -> None:
    monkeypatch.setattr(origins_module, "MOST_OBJECTS", 10)
    objects = np.array([4, 6, 1, 30, 2, 2, 2, 2])
    windows = Origins(np.arange(8), np.arange(8))
    chunks = [part.systems.tolist() for part in windows.chunks(3, objects)]
    assert chunks == [[0, 1], [2], [3], [4, 5, 6], [7]]
    assert [part.starts.tolist() for part in windows.chunks(3, objects)] == chunks
