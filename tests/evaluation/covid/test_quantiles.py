"""Quantiles of totals and their scores."""

import numpy as np
import pytest

from pgode.evaluation.covid.quantiles import (
    LEVELS,
    around,
    coverage,
    residual_quantiles,
    weighted_interval_score,
)


def test_there_are_the_23_levels_of_forecast_hubs():
    assert LEVELS.tolist()[:4] == [0.01, 0.025, 0.05, 0.1]
    assert LEVELS.tolist()[-4:] == [0.9, 0.95, 0.975, 0.99]
    assert len(LEVELS) == 23
    assert 0.5 in LEVELS


def test_the_score_is_twice_the_mean_pinball_loss():
    quantiles = np.full((23, 1, 1), 10.0)
    high = weighted_interval_score(quantiles, np.array([[13.0]]))
    assert high == pytest.approx(2 * 3 * LEVELS.mean())  # A point forecast: the absolute error.
    assert high == pytest.approx(3.0)
    spread = np.linspace(4, 16, 23)[:, None, None]
    below = np.maximum(LEVELS * (13 - spread[:, 0, 0]), (LEVELS - 1) * (13 - spread[:, 0, 0]))
    assert weighted_interval_score(spread, np.array([[13.0]])) == pytest.approx(2 * below.mean())


def test_residuals_of_one_set_give_intervals_that_hold_as_much_of_it():
    random = np.random.default_rng(0)
    forecast = random.uniform(20, 2000, (40, 50))
    truth = forecast * np.exp(random.normal(0, 0.2, forecast.shape))
    quantiles = around(forecast, residual_quantiles(forecast, truth))
    assert (np.diff(quantiles, axis=0) >= 0).all()
    assert coverage(quantiles, truth, 90) == pytest.approx(90, abs=0.5)
    assert coverage(quantiles, truth, 50) == pytest.approx(50, abs=0.5)


def test_totals_are_never_negative():
    quantiles = around(np.array([[0.0, 1.0]]), np.linspace(-3, 3, 23))
    assert quantiles.min() == 0.0
