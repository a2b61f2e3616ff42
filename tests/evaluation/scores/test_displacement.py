"""Distances of positions, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from tests.evaluation.made import ERRORS, normaliser, small_errors

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.scores import METRICS
from pgode.evaluation.scores.selection import chosen_metrics, column_units, in_own_units
from pgode.runtime.errors import InputError


def moving() -> Normaliser:
    return replace(normaliser(), roles=("position", "position", "value"), units=("m", "m", "kg"))


DISTANCE = np.sqrt((ERRORS[:, :, :2] ** 2).sum(2))


def test_average_and_final_displacement_are_distances_over_and_at_the_horizon():
    for name, expected in (
        ("ade", {1: DISTANCE[:, :1].mean(), 2: DISTANCE.mean()}),
        ("fde", {1: DISTANCE[:, 0].mean(), 2: DISTANCE[:, 1].mean()}),
    ):
        rows = METRICS[name].rows(small_errors(), moving(), [1, 2])
        assert {h: rows[h]["q"] for h in rows} == pytest.approx(expected)
        assert list(rows[1]) == ["q"]


def test_positions_of_several_variables_are_one_column():
    apart = replace(moving(), variables=("x", "y", "m"))
    assert list(METRICS["ade"].columns(apart)) == ["x+y"]


def test_a_position_that_is_not_wholly_known_has_no_distance():
    known = np.ones(ERRORS.shape, bool)
    known[0, 1, 1] = False
    rows = METRICS["fde"].rows(small_errors(known), moving(), [2])
    assert rows[2]["q"] == pytest.approx(DISTANCE[1, 1])


def test_the_best_of_n_samples_is_chosen_for_each_object_and_whole_path():
    forecast = small_errors()
    worse = forecast.truth + 5
    one = np.concatenate([forecast.mean[:1], worse[1:]])
    two = np.concatenate([worse[:1], forecast.truth[1:]])
    rows = METRICS["best_of_n"].rows(forecast.with_draws(np.stack([one, two])), moving(), [2])
    assert rows[2]["q"] == pytest.approx(DISTANCE[0].mean() / 2, rel=1e-6)


def test_units_are_undone_and_columns_of_different_units_have_no_number():
    mixed = replace(moving(), units=("m", "km", "kg"))
    own = small_errors().mapped(mixed.raw)
    rows = in_own_units(METRICS["mae"], own, mixed, [2])
    assert rows[2]["qx"] == pytest.approx(2 * np.abs(ERRORS[:, :, 0]).mean())
    assert rows[2]["q"] is None
    assert column_units(mixed) == {"q": "", "m": "kg", "qx": "m", "qy": "km"}
    assert column_units(moving())["q"] == "m"
    squared = in_own_units(METRICS["mse"], own, mixed, [2])
    assert squared[2]["qx"] == pytest.approx(4 * (ERRORS[:, :, 0] ** 2).mean())


def test_a_transform_is_undone_before_errors_are_taken():
    counts = replace(normaliser(("a",)), transforms=("log1p",))
    truth, mean = (counts.states(np.full((1, 1, 1), value)) for value in (99.0, 149.0))
    own = replace(small_errors(), mean=mean, truth=truth, known=np.ones((1, 1, 1), bool))
    rows = in_own_units(METRICS["mae"], own.mapped(counts.raw), counts, [1])
    assert rows[1]["a"] == pytest.approx(50.0)


def test_metrics_that_are_not_possible_are_left_out_or_refused():
    assert "ade" not in chosen_metrics(None, normaliser(), 5)
    assert chosen_metrics(["mae"], normaliser(), 0) == ("mse", "mae")
    with pytest.raises(InputError, match="no feature of the data is a position"):
        chosen_metrics(["ade"], normaliser(), 5)
    with pytest.raises(InputError, match="cannot compute wis without samples"):
        chosen_metrics(["wis"], normaliser(), 0)
    with pytest.raises(InputError, match=r'no metric "rsme".*Did you mean "rmse"'):
        chosen_metrics(["rsme"], normaliser(), 0)
