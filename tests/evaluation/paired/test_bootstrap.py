"""Ranges of differences, on scores made by hand."""

import numpy as np
import pytest
from tests.evaluation.made import normaliser, predictions

from pgode.batches.origins import Origins
from pgode.evaluation.paired.bootstrap import Sums, differences, resampled_unit
from pgode.evaluation.paired.result import Difference
from pgode.evaluation.scores import METRICS

UNITS = 40
A = normaliser(("a",))


def sums(errors: np.ndarray, metric: str = "mse") -> Sums:
    """Of one object in each unit with these errors at one frame."""
    shape = (len(errors), 1, 1)
    forecast = predictions(errors.reshape(shape), np.zeros(shape))
    return Sums.of(METRICS[metric], forecast, A, [1], ["a"], np.arange(len(errors)))


def compared(one: np.ndarray, other: np.ndarray, metric: str = "mse") -> Difference:
    both = {"one": sums(one, metric), "other": sums(other, metric)}
    (found,) = differences(both, METRICS[metric], [1], ["a"], seed=0)
    return found


def test_a_constant_ratio_has_a_range_of_no_width_however_hard_units_differ():
    errors = np.exp(np.random.default_rng(0).normal(size=UNITS) * 2)
    found = compared(errors, errors * np.sqrt(0.88))
    assert (found.change, found.low, found.high) == pytest.approx((-0.12,) * 3)
    assert found.clear
    assert found.text == (
        "other is lower by 12 % than one for a at 1 frames (90 % range 12 to 12)."
    )


def test_the_root_of_a_mean_is_taken_after_resampling():
    errors = np.exp(np.random.default_rng(0).normal(size=UNITS))
    assert compared(errors, errors * 0.5, "rmse").change == pytest.approx(-0.5)
    assert compared(errors, errors * 0.5, "mae").change == pytest.approx(-0.5)


def test_equal_models_with_independent_errors_differ_in_no_clear_way():
    random = np.random.default_rng(0)
    found = compared(random.normal(size=400), random.normal(size=400))
    assert not found.clear and found.low < 0 < found.high
    assert "No clear difference between other and one" in found.text


def test_the_range_is_that_of_the_standard_error():
    random = np.random.default_rng(2)
    ratio = 1 + 0.3 * random.normal(size=900)
    found = compared(np.ones(900), ratio, "mae")
    spread = np.abs(ratio).std() / 30 * 1.645
    assert found.high - found.low == pytest.approx(2 * spread, rel=0.1)
    assert found.change == pytest.approx(np.abs(ratio).mean() - 1)


def test_far_lower_errors_are_told_as_a_factor():
    errors = np.ones(UNITS)
    assert "is 10000 times lower" in compared(errors, errors * 0.01).text.replace("1e+04", "10000")


@pytest.mark.parametrize("systems, unit", [(10, "systems"), (9, "windows")])
def test_windows_are_resampled_only_where_there_are_few_systems(systems, unit):
    windows = systems * 3
    shape = (windows, 1, 1)
    forecast = predictions(np.ones(shape), np.zeros(shape), system=np.arange(windows))
    origins = Origins(np.repeat(np.arange(systems), 3), np.tile(np.arange(3), systems))
    found, number = resampled_unit(type(forecast)(**(vars(forecast) | {"origins": origins})))
    assert found == unit
    assert number.max() + 1 == (systems if unit == "systems" else windows)
