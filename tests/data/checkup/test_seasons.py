"""Weekly and daily rhythms show, and other oscillations are not taken for them."""

import numpy as np
import pytest
from tests.data.checkup.made import series, subject

from pgode.data.checkup.checks.seasons import rhythm, season


def weekly(frames: int = 120) -> np.ndarray:
    rng = np.random.default_rng(0)
    days = np.arange(frames)
    level = 200 * (1 + 0.5 * np.sin(2 * np.pi * days / 7)) * np.exp(0.01 * days)
    return rng.poisson(level * np.ones((5, 1)))


def test_a_weekly_rhythm_of_days_is_found_and_sets_the_window():
    checked = series(weekly())
    assert (checked.period, checked.condition, checked.horizon) == (7, 14, 21)
    (found,) = rhythm(checked)
    assert "weekly rhythm" in found.text and "--known weekday" in found.fix


def test_noise_without_rhythm_has_none():
    assert series(np.random.default_rng(0).poisson(200.0, (5, 120))).period == 0


@pytest.mark.parametrize("units", ["weeks", ""])
def test_the_same_numbers_without_days_have_none(units):
    checked = series(weekly(), time_units=units, time_origin="")
    assert checked.period == 0 and rhythm(checked) == []


def test_too_short_a_series_has_none():
    assert season(series(weekly(20)).data) == 0


def test_oscillating_objects_have_none():
    assert subject().period == 0
