import numpy as np
import pytest

from pgode.evaluation.scores.clusters import adjusted_rand_index


def test_the_same_grouping_under_other_names_agrees_fully() -> None:
    assert adjusted_rand_index(np.array([0, 0, 1, 1, 2]), np.array([5, 5, 3, 3, 0])) == 1.0


def test_it_has_the_value_of_the_textbook() -> None:
    """Of 15 pairs, 6 are joined in the truth, 3 in the other grouping, 2 in both."""
    truth, found = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])
    assert adjusted_rand_index(truth, found) == pytest.approx((2 - 6 * 3 / 15) / (4.5 - 6 * 3 / 15))


def test_random_groupings_agree_by_chance_only() -> None:
    random = np.random.default_rng(0)
    values = [
        adjusted_rand_index(random.integers(3, size=60), random.integers(3, size=60))
        for _ in range(200)
    ]
    assert abs(np.mean(values)) < 0.01


def test_one_group_against_several_tells_nothing() -> None:
    assert adjusted_rand_index(np.array([0, 0, 1, 1]), np.zeros(4, np.int64)) == 0.0
    assert adjusted_rand_index(np.zeros(4, np.int64), np.zeros(4, np.int64)) == 1.0
