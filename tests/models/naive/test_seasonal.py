"""Seasons of daily and hourly data."""

from dataclasses import replace

import numpy as np
import pytest
from tests.models.naive.made import forecast, series

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import model_config
from pgode.models.naive.seasonal import Seasonal, SeasonalRate, season_of
from pgode.runtime.errors import InputError

COUNTS = np.array(
    [5.0, 1, 2, 3, 4, 5, 6, 70, 11, 12, 13, 14, 15, 16, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0]
)


def daily(values: np.ndarray = COUNTS, seen: np.ndarray | None = None, **more):
    return series(values, seen, time_units="days", **more)


@pytest.mark.parametrize(
    "duration, units, season",
    [
        (1, "days", 7),
        (24, "hours", 7),
        (1, "hours", 24),
        (60, "minutes", 24),
        (0.5, "days", None),
        (1, "", None),
        (1, "weeks", None),
        (1, "day", 7),
    ],
)
def test_the_time_step_decides_the_season(duration, units, season):
    fitted = replace(Normaliser.fit(daily()), frame_duration=float(duration), time_units=units)
    assert season_of(fitted) == season


def test_a_season_ago_is_the_value_seven_days_before_and_repeats():
    found = forecast("seasonal", daily(), condition=15, horizon=9)[0, :, 0]
    np.testing.assert_allclose(found, [11, 12, 13, 14, 15, 16, 80, 11, 12], rtol=1e-5)


def test_a_day_that_was_not_observed_is_replaced_by_the_last_value():
    seen = np.ones(len(COUNTS), bool)
    seen[9] = False
    found = forecast("seasonal", daily(seen=seen), condition=15, horizon=3)[0, :, 0]
    np.testing.assert_allclose(found, [11, 80, 13], rtol=1e-5)


@pytest.mark.parametrize("transform", ["", "log1p"])
def test_the_seven_day_rate_is_the_mean_of_the_last_seven_days_under_any_transform(transform):
    data = daily(transforms=(transform,))
    found = forecast("seasonal-rate", data, condition=15, horizon=2)[0, :, 0]
    np.testing.assert_allclose(found, np.mean([11, 12, 13, 14, 15, 16, 80]), rtol=1e-5)


def test_they_are_scored_only_where_the_condition_holds_a_season():
    fitted = Normaliser.fit(daily())
    for kind in (Seasonal, SeasonalRate):
        assert kind.suits(fitted, 7) and not kind.suits(fitted, 6)
        assert not kind.suits(replace(fitted, time_units=""), 50)


def test_a_length_can_be_given_and_training_without_any_is_refused():
    found = forecast("seasonal", series(COUNTS), condition=15, horizon=2, period=3)[0, :, 0]
    np.testing.assert_allclose(found, [15, 16], rtol=1e-5)
    data = series(COUNTS)
    windows = Windows(data, Normaliser.fit(data), 12, 2)
    with pytest.raises(InputError, match=r"no season.*model\.period"):
        model_config("seasonal", {}).settled(windows, 0)
    settled, _ = model_config("seasonal", {}).settled(
        Windows(daily(), Normaliser.fit(daily()), 12, 2), 0
    )
    assert settled.model_dump() == {"period": 7}
