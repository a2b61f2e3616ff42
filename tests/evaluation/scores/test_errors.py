"""Errors by hand on arrays small enough to work out on paper."""

import numpy as np
from tests.evaluation.made import normaliser, small_errors

from pgode.evaluation import ScoreTable
from pgode.evaluation.scores.errors import error_by_frame, skill, system_means


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
    assert skill(ours, theirs).row("test", 1) == expected
