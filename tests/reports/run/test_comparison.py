import math

import numpy as np
import pytest

from pgode.reports.run.comparison import (
    against,
    compare,
    interval_verdicts,
    reported_variables,
    verdicts,
)


def evaluation(own: float, last: float, velocity: float) -> dict:
    """One split, one horizon, one variable; the feature of it is listed as well."""

    def table(value):
        return {"test": {"12": {"q": value, "qx": value}}}

    return {
        "model": "pgode",
        "mse": table(own),
        "naive": {"last-value": table(last), "constant-velocity": table(velocity)},
        "curve": {"pgode": {"test": {"q": [own]}}},
    }


def test_the_grid_holds_the_model_first_and_only_variables():
    grid = compare(evaluation(0.02, 0.4, 0.1))
    assert grid.models == ("pgode", "last-value", "constant-velocity")
    assert (grid.splits, grid.horizons, grid.variables) == (("test",), (12,), ("q",))
    np.testing.assert_array_equal(grid.errors.ravel(), [0.02, 0.4, 0.1])
    assert grid.ratio("constant-velocity").item() == pytest.approx(0.2)
    np.testing.assert_array_equal(grid.best.ravel(), [True, False, False])


def test_horizons_are_sorted_as_numbers_not_as_words():
    found = compare({"mse": {"test": {"12": {"q": 1.0}, "6": {"q": 0.5}}}})
    assert found.horizons == (6, 12) and found.errors.ravel().tolist() == [0.5, 1.0]


def test_a_tie_is_won_by_both():
    np.testing.assert_array_equal(
        compare(evaluation(0.1, 0.4, 0.1)).best.ravel(), [True, False, True]
    )


def test_a_model_that_is_itself_naive_is_not_compared_with_itself():
    given = evaluation(0.1, 0.4, 0.1) | {"model": "constant-velocity"}
    grid = compare(given, ["q"])
    assert grid.models == ("constant-velocity", "last-value")
    assert grid.ratio("constant-velocity") is None


def test_a_model_below_both_naive_ones_is_said_to_be_better():
    (found,) = verdicts(compare(evaluation(0.02, 0.4, 0.1)))
    assert found.good and "Better than last value and constant velocity" in found.words


def test_a_model_above_a_naive_one_is_said_to_be_worse_where_and_by_how_much():
    given = evaluation(0.02, 0.4, 0.1)
    given["mse"]["ood"] = {"12": {"q": 0.3, "qx": 0.3}}
    for name, value in (("last-value", 0.4), ("constant-velocity", 0.1)):
        given["naive"][name]["ood"] = {"12": {"q": value, "qx": value}}
    (found,) = verdicts(compare(given))
    assert not found.good
    assert found.words == (
        "Worse than constant velocity, which learns nothing, in 1 of 2 cells: "
        "q at 12 frames out of distribution (3.0 ×)."
    )


def test_a_model_worse_everywhere_gets_a_short_sentence():
    found = verdicts(compare(evaluation(0.5, 0.4, 0.1)))
    assert [verdict.good for verdict in found] == [False, False]
    assert "in every cell of the table, by up to 5.0 ×" in found[1].words


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
def test_an_error_that_is_not_finite_is_named_and_never_praised(missing):
    found = verdicts(compare(evaluation(missing, 0.4, 0.1)))
    assert not any(verdict.good for verdict in found)
    assert "no finite error for q at 12 frames in distribution" in found[0].words


@pytest.mark.parametrize(
    "ratio, words",
    [
        (0.0107, "93 × below constant velocity"),
        (1.3, "1.3 × above constant velocity"),
        (1.0, "equal to constant velocity"),
        (0.982, "1.8 % below constant velocity"),
        (1.023, "2.3 % above constant velocity"),
        (0.0, "exact; constant velocity is not"),
        (math.nan, "not comparable with constant velocity"),
    ],
)
def test_a_ratio_in_words(ratio, words):
    assert against(ratio, "constant-velocity") == words


def test_variables_come_from_curves_then_scores_then_errors():
    assert reported_variables(evaluation(1, 1, 1)) == ("q",)
    assert reported_variables({"crps": {"test": {"12": {"q": 1, "v": 2}}}}) == ("q", "v")
    assert reported_variables({"mse": {"test": {"12": {"qx": 1}}}}) == ("qx",)
    assert reported_variables({}) == ()


@pytest.mark.parametrize(
    "shares, good, words",
    [
        ((0.88, 0.71), False, "too narrow: at worst they hold 71 % of q at 24 frames"),
        ((0.88, 0.93), True, "about right: they hold 88 % to 93 %"),
    ],
)
def test_intervals_are_judged_by_their_worst_cell(shares, good, words):
    cells = {str(h): {"q": share} for h, share in zip((12, 24), shares, strict=True)}
    (found,) = interval_verdicts({"coverage": {"90": {"test": cells}}}, ["q"])
    assert found.good is good and words in found.words


def test_an_interval_that_holds_too_much_is_called_wide_but_is_no_warning():
    (found,) = interval_verdicts({"coverage": {"50": {"test": {"12": {"q": 0.8}}}}}, ["q"])
    assert found.good and "wide: they hold up to 80 %" in found.words
