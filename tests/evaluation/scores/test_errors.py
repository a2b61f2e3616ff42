"""Errors by hand on arrays small enough to work out on paper."""

import numpy as np
from tests.evaluation.made import normaliser, small_errors

from pgode.evaluation import ScoreTable
from pgode.evaluation.scores.errors import best_naive, error_by_frame, skill, system_means


def test_errors_by_frame_are_means_of_each_system() -> None:
    system = np.array([0, 1])
    found = error_by_frame(small_errors(system=system), normaliser())
    assert list(found) == ["q", "m"]
    np.testing.assert_allclose(found["q"], [[2.5, 4.5], [0.5, 10.0]])
    np.testing.assert_allclose(found["m"], [[0.0, 1.0], [4.0, 9.0]])
    known = np.ones((2, 2, 3), bool)
    known[1, 0] = False
    found = error_by_frame(small_errors(known, system), normaliser())
    np.testing.assert_allclose(found["q"], [[2.5, 4.5], [np.nan, 10.0]])


def test_a_system_counts_each_object_once_however_many_it_has() -> None:
    values = np.array([1.0, 3.0, 5.0, 10.0])[:, None, None]
    found = system_means(values, np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(found, [[3.0], [10.0]])


def test_skill_is_1_without_error_0_at_the_reference_and_negative_beyond() -> None:
    ours = ScoreTable({"test": {1: {"q": 1.0, "m": 6.0, "x": 0.0, "y": None, "z": 1.0}}})
    theirs = ScoreTable({"test": {1: {"q": 4.0, "m": 3.0, "x": 0.0, "y": 2.0, "z": None}}})
    expected = {"q": 0.75, "m": -1.0, "x": 0.0, "y": None, "z": None}
    naive = {"last-value": theirs}
    assert skill(ours, naive, best_naive(naive)).row("test", 1) == expected


def test_skill_is_against_the_best_naive_model_of_each_cell() -> None:
    ours = ScoreTable({"test": {1: {"q": 1.0, "v": 1.0}, 2: {"q": 3.0, "v": 1.0}}})
    naive = {
        "last-value": ScoreTable({"test": {1: {"q": 4.0, "v": 2.0}, 2: {"q": 8.0, "v": None}}}),
        "mean-value": ScoreTable({"test": {1: {"q": 2.0, "v": 5.0}, 2: {"q": 9.0, "v": 4.0}}}),
    }
    best = best_naive(naive)
    assert best == {
        "test": {
            1: {"q": "mean-value", "v": "last-value"},
            2: {"q": "last-value", "v": "mean-value"},
        }
    }
    found = skill(ours, naive, best)
    assert found.row("test", 1) == {"q": 0.5, "v": 0.5}
    assert found.row("test", 2) == {"q": 1 - 3 / 8, "v": 0.75}


def test_a_naive_model_without_error_leaves_a_skill_far_below_zero() -> None:
    ours, exact = (ScoreTable({"test": {1: {"q": error}}}) for error in (0.01, 0.0))
    naive = {"constant-velocity": exact}
    found = skill(ours, naive, best_naive(naive)).at("test", 1, "q")
    assert found is not None and -1e15 < found < -1e13
