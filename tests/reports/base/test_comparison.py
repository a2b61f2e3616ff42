import math
from dataclasses import replace

import numpy as np
import pytest
from tests.reports.fabricate import made_evaluation

from pgode.evaluation.evaluation import Evaluation
from pgode.reports.base.comparison import compare, ratio_text


def evaluation(own: float | None, last: float, velocity: float) -> Evaluation:
    """One split, one horizon, one variable; its feature is listed as well."""

    def table(value):
        return {"test": {12: {"q": value, "qx": value}}}

    return made_evaluation(
        mse=table(own),
        naive={"last-value": table(last), "constant-velocity": table(velocity)},
        variables=("q",),
    )


def test_the_grid_holds_the_model_first_and_only_variables():
    grid = compare(evaluation(0.02, 0.4, 0.1))
    assert grid.models == ("pgode", "last-value", "constant-velocity")
    assert (grid.splits, grid.horizons, grid.variables) == (("test",), (12,), ("q",))
    np.testing.assert_array_equal(grid.errors.ravel(), [0.02, 0.4, 0.1])
    assert grid.ratio("constant-velocity").item() == pytest.approx(0.2)
    np.testing.assert_array_equal(grid.best.ravel(), [True, False, False])


def test_columns_can_be_single_features():
    assert compare(evaluation(0.02, 0.4, 0.1), ["qx"]).variables == ("qx",)


def test_naive_models_without_any_error_are_left_out():
    given = made_evaluation(
        mse={"test": {6: {"q": 0.5}, 12: {"q": 1.0}}},
        naive={"last-value": {"test": {6: {"q": None}}}},
        variables=("q",),
    )
    grid = compare(given)
    assert grid.models == ("pgode",) and grid.errors.ravel().tolist() == [0.5, 1.0]


def test_a_tie_is_won_by_both():
    np.testing.assert_array_equal(
        compare(evaluation(0.1, 0.4, 0.1)).best.ravel(), [True, False, True]
    )


def test_a_model_that_is_itself_naive_is_not_compared_with_itself():
    grid = compare(replace(evaluation(0.1, 0.4, 0.1), model="constant-velocity"), ["q"])
    assert grid.models == ("constant-velocity", "last-value")
    assert grid.ratio("constant-velocity") is None


@pytest.mark.parametrize(
    "ratio, text",
    [
        (0.0107, "93 × below constant velocity"),
        (1.3, "1.3 × above constant velocity"),
        (1.0, "equal to constant velocity"),
        (0.982, "1.8 % below constant velocity"),
        (1.023, "2.3 % above constant velocity"),
        (0.0, "exact, unlike constant velocity"),
        (math.nan, "not comparable with constant velocity"),
    ],
)
def test_a_ratio_as_text(ratio, text):
    assert ratio_text(ratio, "constant-velocity") == text
