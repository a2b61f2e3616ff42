"""Windows and totals, against numbers worked out by hand."""

from datetime import date, timedelta

import numpy as np
import pytest
from tests.covid_reports import write_compact

from pgode.data.files.covid import Days, read_source
from pgode.data.files.covid.reports import FIRST
from pgode.evaluation.covid.baselines import (
    baseline_totals,
    condition_mean,
    last_value,
    regression,
    weekly_rate,
)
from pgode.evaluation.covid.scores import mean_absolute, root_mean_square, scored
from pgode.evaluation.covid.totals import forecast_total, true_totals
from pgode.evaluation.covid.windows import WINDOWS, Window


@pytest.fixture(scope="module")
def days(tmp_path_factory) -> Days:
    path = write_compact(tmp_path_factory.mktemp("covid") / "all.csv", 264)
    return Days.of_reports(read_source(path, date(2020, 12, 31)))


def dates(window: Window) -> tuple[str, str]:
    first = FIRST + timedelta(days=window.first)
    return f"{first:%m-%d}", f"{first + timedelta(days=window.days - 1):%m-%d}"


def test_published_windows_have_their_odd_lengths():
    test = WINDOWS["test"]
    assert [dates(window) for window in test[7]] == [
        ("11-29", "12-05"),
        ("12-07", "12-12"),
        ("12-14", "12-19"),
        ("12-21", "12-26"),
    ]
    assert [window.days for window in test[7]] == [7, 6, 6, 6]
    assert [dates(window) for window in test[14]] == [
        ("12-02", "12-15"),
        ("12-10", "12-22"),
        ("12-17", "12-29"),
    ]
    assert [dates(window) for window in test[21]] == [("11-29", "12-09"), ("12-06", "12-26")]


def test_whole_weeks_run_from_sunday_to_saturday():
    weeks = WINDOWS["weeks"]
    assert [dates(window)[0] for window in weeks[7]] == ["11-29", "12-06", "12-13", "12-20"]
    assert [len(weeks[horizon]) for horizon in (7, 14, 21)] == [4, 3, 2]
    for windows in weeks.values():
        for window in windows:
            assert (FIRST + timedelta(days=window.first)).weekday() == 6
            assert window.days % 7 == 0


def test_errors_are_over_states_and_then_over_windows():
    forecast = np.array([[3.0, 4.0], [0.0, 0.0]])
    truth = np.array([[0.0, 0.0], [1.0, np.nan]])
    assert mean_absolute(forecast, truth) == pytest.approx((3.5 + 1) / 2)
    assert root_mean_square(forecast, truth) == pytest.approx((np.sqrt(12.5) + 1) / 2)


def test_totals_of_daily_forecasts_are_their_sum():
    daily = np.array([[1.0, 2.0, -3.0, 4.0]])
    window = Window(first=5, days=4)
    assert forecast_total(daily, 1, np.zeros((9, 1)), window).tolist() == [7.0]


@pytest.mark.parametrize("days_ahead", [6, 7, 11, 13, 14, 21])
def test_totals_of_weekly_means_are_exact_whatever_the_length(days_ahead):
    random = np.random.default_rng(0)
    deaths = random.poisson(9.0, (60, 3)).astype(float)
    window = Window(first=30, days=days_ahead)
    means = np.stack([deaths[day - 6 : day + 1].mean(0) for day in range(30, 51)], axis=1)
    found = forecast_total(means, 7, deaths, window)
    np.testing.assert_allclose(found, true_totals(deaths, (window,))[0])


def test_naive_totals_by_hand(days):
    deaths, window = days.daily("deaths"), WINDOWS["test"][7][1]
    first = window.first
    np.testing.assert_allclose(last_value(days, window, 7), 6 * deaths[first - 1])
    expected = 6 / 7 * deaths[first - 7 : first].sum(0)
    np.testing.assert_allclose(weekly_rate(days, window, 7), expected)
    expected = 6 / 14 * deaths[first - 14 : first].sum(0)
    np.testing.assert_allclose(condition_mean(days, window, 7), expected)


def test_the_regression_recovers_a_law_of_weekly_sums(days):
    values = np.array(days.values)
    cases, deaths = values[:, :, 0], values[:, :, 1]
    cases[0] = deaths[0] = 0.0
    for day in range(60, len(values)):  # From here on deaths follow the cases of four weeks ago.
        deaths[day] = cases[day - 28] * 0.02
    made = Days(values, days.population, days.places, days.origin)
    window = Window(WINDOWS["weeks"][7][0].first, 7)
    truth = true_totals(deaths, (window,))[0]
    np.testing.assert_allclose(regression(made, window, 7), truth, rtol=0.02)


def test_scores_have_a_row_for_each_protocol_and_horizon(days):
    table = scored(baseline_totals(days, weekly_rate), days)
    assert table.splits == ("test", "weeks")
    assert table.horizons == (7, 14, 21)
    truth = true_totals(days.daily("deaths"), WINDOWS["weeks"][14])
    forecast = np.stack([weekly_rate(days, window, 14) for window in WINDOWS["weeks"][14]])
    assert table.at("weeks", 14, "mae") == pytest.approx(np.abs(forecast - truth).mean())
