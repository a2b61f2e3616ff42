"""Daily reports: both sets of column names, what is left out, and what is refused."""

import os
from datetime import date, timedelta

import numpy as np
import pytest
from tests.covid_reports import deaths_of, write_compact, write_reports

from pgode.data.files.covid.reports import FIRST, read_source
from pgode.data.files.covid.states import STATES
from pgode.runtime.errors import InputError

DAYS = 25
UNTIL = FIRST + timedelta(days=DAYS - 1)


def test_both_sets_of_names_are_read_and_territories_are_not(tmp_path):
    reports = read_source(write_reports(tmp_path / "r", DAYS), UNTIL)
    assert reports.values.shape[:2] == (DAYS, 50)
    expected = [[deaths_of(place, day) for place in range(50)] for day in range(DAYS)]
    np.testing.assert_array_equal(reports.column("deaths"), expected)
    assert (reports.column("mortality_rate") == 2.5).all()  # Its name changes on 1 May.
    assert np.isnan(reports.column("recovered")[:, 3]).all()
    assert reports.last == UNTIL


def test_a_state_without_a_row_on_a_day_has_no_values_then(tmp_path):
    reports = read_source(write_reports(tmp_path / "r", DAYS, ("Ohio", 9)), UNTIL)
    ohio = [state.name for state in STATES].index("Ohio")
    unknown = np.isnan(reports.column("deaths"))
    assert np.argwhere(unknown).tolist() == [[9, ohio]]


def test_the_compact_file_and_its_vintage(tmp_path):
    path = write_compact(tmp_path / "all.csv", DAYS)
    os.utime(path, (0, 1612180800))
    reports = read_source(path, UNTIL - timedelta(days=5))
    assert len(reports.values) == DAYS - 5
    assert reports.vintage == "2021-02-01"
    assert reports.hash != read_source(path, UNTIL).hash


def damage(path, what):
    text = (path / "04-20-2020.csv").read_text()
    (path / "04-20-2020.csv").write_text(what(text))


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda f: (f / "04-20-2020.csv").unlink(), "has no report 04-20-2020.csv"),
        (lambda f: damage(f, lambda t: t.replace("Deaths", "Dead")), "has no column deaths"),
        (lambda f: damage(f, lambda t: t[:2000]), "cells. Expected 18"),
        (
            lambda f: damage(f, lambda t: t.replace("2.5", "2.5%", 1)),
            'has "2.5%" as mortality_rate',
        ),
        (lambda f: damage(f, lambda t: t + t.splitlines()[1] + "\n"), "a second row of Alabama"),
        (lambda f: damage(f, lambda t: ""), "has no column state"),
        (lambda f: [p.unlink() for p in f.iterdir()], "holds no daily report"),
    ],
)
def test_bad_folders_are_refused_with_the_place(tmp_path, change, says):
    folder = write_reports(tmp_path / "r", DAYS)
    change(folder)
    with pytest.raises(InputError, match=says):
        read_source(folder, UNTIL)


def test_bad_files_are_refused(tmp_path):
    path = write_compact(tmp_path / "all.csv", DAYS)
    with pytest.raises(InputError, match="has no row for 2020-05-07"):
        read_source(path, UNTIL + timedelta(days=3))
    with pytest.raises(InputError, match="no such file or folder"):
        read_source(tmp_path / "none", UNTIL)
    path.write_text(path.read_text().replace("2020-04-13", "13.4.2020", 1))
    with pytest.raises(InputError, match=r'line 52 of .* has the date "13.4.2020"'):
        read_source(path, date(2020, 4, 15))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_source(path, UNTIL)
