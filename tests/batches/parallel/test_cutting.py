"""Which systems of a batch a process has."""

import numpy as np
import pytest

from pgode.batches.parallel.cutting import bounds_of


@pytest.mark.parametrize(
    "objects, ranks, expected",
    [
        ([10] * 8, 2, [0, 4, 8]),
        ([10] * 8, 3, [0, 3, 5, 8]),
        ([100, 1, 1, 1, 1], 2, [0, 1, 5]),
        ([1, 1, 1, 1, 100], 2, [0, 4, 5]),
        ([5, 5], 4, [0, 1, 2, 2, 2]),
        ([5], 3, [0, 1, 1, 1]),
    ],
)
def test_processes_have_about_as_many_objects(
    objects: list[int], ranks: int, expected: list[int]
) -> None:
    assert bounds_of(np.array(objects), ranks).tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_every_system_belongs_to_one_process_and_none_is_idle_without_need(seed: int) -> None:
    random = np.random.default_rng(seed)
    objects, ranks = random.integers(1, 50, random.integers(1, 30)), int(random.integers(1, 9))
    bounds = bounds_of(objects, ranks)
    sizes = np.diff(bounds)
    assert bounds[0] == 0 and bounds[-1] == len(objects) and (sizes >= 0).all()
    assert (sizes > 0).sum() == min(ranks, len(objects))
