"""Dates of times, and what follows from a date."""

import numpy as np
import pytest

from pgode.data.labels.calendar import (
    CALENDAR,
    calendar_input,
    calendar_names,
    dates,
    times_since,
)


@pytest.mark.parametrize(
    "units, time, date",
    [
        ("days", 1.5, "2020-02-29T12:00"),
        ("hours", 30.0, "2020-02-29T06:00"),
        ("weeks", 1.0, "2020-03-06"),
        ("seconds", 0.25, "2020-02-28T00:00:00.250"),
    ],
)
def test_times_are_dates_and_back(units: str, time: float, date: str) -> None:
    found = dates(np.array([time, np.nan]), "2020-02-28", units)
    assert found[0] == np.datetime64(date) and np.isnat(found[1])
    np.testing.assert_allclose(times_since(found, "2020-02-28", units), [time, np.nan])


def test_weekday_month_and_hour_are_those_of_the_calendar() -> None:
    when = np.array(["2020-11-29T00:00", "2020-12-05T23:59"], "datetime64[ms]")
    assert calendar_input("weekday=Sun", when).tolist() == [1, 0]
    assert calendar_input("weekday=Sat", when).tolist() == [0, 1]
    assert calendar_input("month=Dec", when).tolist() == [0, 1]
    assert calendar_input("hour=23", when).tolist() == [0, 1]
    assert calendar_input("policy", when) is None and calendar_input("weekday=Foo", when) is None


def test_each_date_has_one_category_of_each_kind() -> None:
    when = np.datetime64("1969-01-01T05:00", "ms") + np.arange(800) * np.timedelta64(13, "h")
    for which in CALENDAR:
        total = sum(calendar_input(name, when) for name in calendar_names(which))
        assert (total == 1).all()
