"""Neighbours within a cutoff, compared with testing every pair."""

import time

import numpy as np
import pytest

from pgode.data.neighbours import pairs_within


def every_pair(positions, cutoff, system):
    """The definition: test all pairs."""
    gap = np.linalg.norm(positions[:, None] - positions[None], axis=-1)
    near = (gap < cutoff) & (system[:, None] == system[None]) & ~np.eye(len(gap), dtype=bool)
    receivers, senders = np.nonzero(near)
    return receivers, senders, gap[near]


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("cutoff", [0.05, 0.3, 5.0])
def test_the_same_pairs_in_the_same_order_as_looking_at_all(axes, cutoff):
    stream = np.random.default_rng(axes)
    positions = stream.normal(size=(150, axes))
    system = np.sort(stream.integers(0, 4, 150))
    found = pairs_within(positions, cutoff, system)
    for ours, plain in zip(found, every_pair(positions, cutoff, system), strict=True):
        np.testing.assert_allclose(ours, plain, rtol=1e-12)


def test_objects_far_apart_need_no_grid_between_them():
    positions = np.array([[0.0, 0, 0], [0.1, 0, 0], [1e12, 1e12, -1e12], [1e12, 1e12, -1e12]])
    receivers, senders, distances = pairs_within(positions, 0.2)
    assert list(zip(receivers, senders, strict=True)) == [(0, 1), (1, 0), (2, 3), (3, 2)]
    np.testing.assert_allclose(distances, [0.1, 0.1, 0, 0])


def test_an_unknown_position_is_near_nothing():
    positions = np.array([[0.0, 0], [np.nan, 0], [0.1, 0]])
    receivers, senders, _ = pairs_within(positions, 1.0)
    assert receivers.tolist() == [0, 2] and senders.tolist() == [2, 0]
    assert all(len(part) == 0 for part in pairs_within(np.full((2, 3), np.nan), 1.0))


def test_the_cutoff_itself_is_not_within():
    receivers, _, _ = pairs_within(np.array([[0.0], [1.0], [1.5]]), 1.0)
    assert receivers.tolist() == [1, 2]


def test_cost_is_nearly_linear_in_the_objects():
    def seconds(objects: int) -> float:
        positions = np.random.default_rng(0).uniform(0, (objects / 100) ** (1 / 3), (objects, 3))
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            pairs_within(positions, 0.3)
            best = min(best, time.perf_counter() - start)
        return best

    seconds(1000)
    # A quadratic search would take 64 times as long.
    assert seconds(40_000) / seconds(5_000) < 24
