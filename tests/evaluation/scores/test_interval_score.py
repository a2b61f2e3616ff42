"""The weighted interval score against its other formula, and coverage of known distributions."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from tests.evaluation.made import normaliser, predictions

from pgode.evaluation.scores import METRICS
from pgode.evaluation.scores.probabilistic import WIS_RANKS, weighted_interval_score
from pgode.evaluation.uncertainty.calibration import Calibration

LEVELS = (98, 95, 90, 80, 70, 60, 50, 40, 30, 20, 10)


def by_intervals(quantile, truth):
    """Bracher et al.: weights alpha / 2 for the interval scores and 1/2 for the median."""
    total = np.abs(truth - quantile(0.5)) / 2
    for level in LEVELS:
        alpha = 1 - level / 100
        low, high = quantile(round(alpha / 2, 4)), quantile(round(1 - alpha / 2, 4))
        score = high - low
        score = score + 2 / alpha * (np.maximum(low - truth, 0) + np.maximum(truth - high, 0))
        total = total + alpha / 2 * score
    return total / (len(LEVELS) + 0.5)


def test_there_are_23_levels():
    assert len(WIS_RANKS) == 23
    assert WIS_RANKS[:3] == (0.01, 0.025, 0.05) and WIS_RANKS[-2:] == (0.975, 0.99)


def test_it_is_the_weighted_sum_of_interval_scores():
    truth = np.array([-3.0, -0.2, 0.0, 0.7, 4.0])

    def quantile(rank):
        return np.full_like(truth, NormalDist().inv_cdf(rank))

    found = weighted_interval_score(quantile, truth)
    np.testing.assert_allclose(found, by_intervals(quantile, truth), rtol=1e-12)


def test_of_a_single_value_it_is_the_absolute_error():
    truth = np.array([1.0, -2.0])
    found = weighted_interval_score(lambda rank: np.array([3.0, 3.0]), truth)
    np.testing.assert_allclose(found, [2.0, 5.0])


@pytest.mark.parametrize("calibrated", [True, False])
def test_intervals_of_a_known_distribution_hold_their_share(calibrated):
    random = np.random.default_rng(0)
    shape = (4000, 1, 1)
    validation, test = (predictions(np.zeros(shape), random.normal(size=shape)) for _ in range(2))
    scale = normaliser(("a",))
    if calibrated:
        test = Calibration.fit(validation, scale).resampled(test, 5, 0)
        assert test.quantile is not None and set(test.intervals) == {50, 80, 90, 95}
    else:
        grid = [NormalDist().inv_cdf((k + 0.5) / 400) for k in range(400)]
        test = test.with_draws(np.broadcast_to(np.reshape(grid, (-1, 1, 1, 1)), (400, *shape)))
    for level in (50, 80, 90, 95):
        share = METRICS[f"coverage_{level}"].rows(test, scale, [1])[1]["a"]
        assert share == pytest.approx(level / 100, abs=0.025)
    # The score of a standard normal forecast by the exact quantiles.
    exact = weighted_interval_score(
        lambda rank: np.full(shape, NormalDist().inv_cdf(rank)), test.truth
    ).mean()
    assert METRICS["wis"].rows(test, scale, [1])[1]["a"] == pytest.approx(exact, rel=0.01)


def test_quantiles_and_intervals_are_mapped_to_other_units_together():
    shape = (50, 1, 1)
    truth = np.random.default_rng(0).normal(size=shape)
    scale = replace(normaliser(("a",)), transforms=("log1p",))
    test = predictions(np.zeros(shape), truth)
    test = Calibration.fit(test, scale).resampled(test, 5, 0)
    own = test.mapped(scale.raw)
    low, high = own.intervals[80]
    assert own.quantile is not None
    np.testing.assert_allclose(own.quantile(0.1), low)
    np.testing.assert_allclose(own.quantile(0.9), high)
    np.testing.assert_allclose(low, scale.raw(test.intervals[80][0]))
