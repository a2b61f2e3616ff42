"""Errors by hand on arrays small enough to work out on paper."""

import numpy as np
import pytest
from tests.evaluation.made import normaliser, predictions

from pgode.evaluation.scores.errors import (
    columns,
    error_by_frame,
    error_by_horizon,
    known_mean,
    skill,
    system_means,
)

# Errors of two objects at two frames: features qx, qy, m.
ERRORS = np.array([[[1.0, 2.0, 0.0], [3.0, 0.0, 1.0]], [[0.0, 1.0, 2.0], [2.0, 4.0, 3.0]]])


def made(known: np.ndarray | None = None, system: np.ndarray | None = None):
    truth = np.random.default_rng(0).normal(size=ERRORS.shape)
    return predictions(truth + ERRORS, truth, known=known, system=system)


def test_columns_are_the_variables_and_then_the_features() -> None:
    assert columns(normaliser()) == {"q": [0, 1], "m": [2], "qx": [0], "qy": [1]}


def test_errors_are_means_over_objects_and_the_first_frames() -> None:
    found = error_by_horizon(made(), normaliser(), [1, 2])
    assert list(found) == ["1", "2"]
    assert found["1"] == pytest.approx(
        {"q": (1 + 4 + 0 + 1) / 4, "m": 4 / 2, "qx": 1 / 2, "qy": 5 / 2}
    )
    assert found["2"] == pytest.approx(
        {
            "q": (1 + 4 + 9 + 0 + 0 + 1 + 4 + 16) / 8,
            "m": (0 + 1 + 4 + 9) / 4,
            "qx": (1 + 9 + 0 + 4) / 4,
            "qy": (4 + 0 + 1 + 16) / 4,
        }
    )


def test_values_that_are_not_known_count_for_nothing() -> None:
    known = np.ones(ERRORS.shape, bool)
    known[1, 1, 1] = known[0, 0, 0] = False
    known[:, 0, 2] = False
    found = error_by_horizon(made(known), normaliser(), [1, 2])
    assert found["1"]["q"] == pytest.approx((4 + 0 + 1) / 3)
    assert found["2"]["q"] == pytest.approx((4 + 9 + 0 + 0 + 1 + 4) / 6)
    assert found["1"]["m"] is None
    assert found["2"]["m"] == pytest.approx((1 + 9) / 2)


def test_errors_by_frame_are_means_of_each_system() -> None:
    system = np.array([0, 1])
    found = error_by_frame(made(system=system), normaliser())
    assert list(found) == ["q", "m"]
    np.testing.assert_allclose(found["q"], [[2.5, 4.5], [0.5, 10.0]])
    np.testing.assert_allclose(found["m"], [[0.0, 1.0], [4.0, 9.0]])
    known = np.ones(ERRORS.shape, bool)
    known[1, 0] = False
    found = error_by_frame(made(known, system), normaliser())
    np.testing.assert_allclose(found["q"], [[2.5, 4.5], [np.nan, 10.0]])


def test_a_system_counts_each_object_once_however_many_it_has() -> None:
    values = np.array([1.0, 3.0, 5.0, 10.0])[:, None, None]
    found = system_means(values, np.array([0, 0, 0, 1]))
    np.testing.assert_allclose(found, [[3.0], [10.0]])


def test_the_mean_of_nothing_is_none() -> None:
    assert known_mean(np.array([np.nan, 2.0, 4.0])) == 3.0
    assert known_mean(np.array([np.nan])) is None
    assert known_mean(np.array([])) is None


def test_skill_is_the_share_of_the_error_that_is_gone() -> None:
    ours = {"1": {"q": 1.0, "m": 6.0, "x": 0.0, "y": None, "z": 1.0}}
    theirs = {"1": {"q": 4.0, "m": 3.0, "x": 0.0, "y": 2.0, "z": None}}
    assert skill(ours, theirs) == {"1": {"q": 0.75, "m": -1.0, "x": 0.0, "y": None, "z": None}}
