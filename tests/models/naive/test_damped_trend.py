"""A trend that fades, against values worked out by hand."""

import numpy as np
from tests.models.naive.made import forecast, series


def test_a_straight_line_goes_on_by_ever_smaller_steps():
    # Slope 2 per frame: after one frame 2 * 0.9, after two 2 * (0.9 + 0.81).
    found = forecast("damped-trend", series(np.arange(12) * 2.0), condition=6, horizon=3)
    steps = 2 * np.cumsum([0.9, 0.81, 0.729])
    np.testing.assert_allclose(found[0, :, 0], 10 + steps, rtol=1e-5)


def test_the_slope_is_that_of_a_line_through_the_last_four_frames():
    values = np.array([50.0, -7.0, 0.0, 1.0, 5.0, 4.0, 0.0, 0.0])
    found = forecast("damped-trend", series(values), condition=6, horizon=1)
    slope = np.polyfit([0, 1, 2, 3], [0.0, 1.0, 5.0, 4.0], 1)[0]
    np.testing.assert_allclose(found[0, 0, 0], 4 + 0.9 * slope, rtol=1e-5)


def test_what_was_not_observed_has_no_weight_and_one_observation_no_slope():
    values = np.array([0.0, 2.0, 99.0, 6.0, 0.0, 0.0])
    seen = np.ones(6, bool)
    seen[2] = False
    found = forecast("damped-trend", series(values, seen), condition=4, horizon=1)
    slope = np.polyfit([0, 1, 3], [0.0, 2.0, 6.0], 1)[0]
    np.testing.assert_allclose(found[0, 0, 0], 6 + 0.9 * slope, rtol=1e-5)
    seen[:3] = False
    alone = forecast("damped-trend", series(values, seen), condition=4, horizon=1)
    np.testing.assert_allclose(alone[0, 0, 0], 6, rtol=1e-5)
