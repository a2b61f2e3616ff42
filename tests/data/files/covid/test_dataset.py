"""From reports to trajectories: increments, averages, graphs and splits in time."""

from datetime import date, timedelta

import numpy as np
import pytest
from tests.covid_reports import deaths_of, population, write_compact, write_reports

from pgode.data import files
from pgode.data.files.covid import CovidSettings, Days, build, graph, read_source
from pgode.data.files.covid.reports import FIRST
from pgode.data.files.covid.states import PLACE, STATES
from pgode.runtime.errors import InputError

DAYS = 80


@pytest.fixture(scope="module")
def days(tmp_path_factory) -> Days:
    folder = write_reports(tmp_path_factory.mktemp("covid") / "r", DAYS, ("Ohio", 20))
    return Days.of_reports(read_source(folder, FIRST + timedelta(days=DAYS - 1)))


@pytest.fixture(scope="module")
def year(tmp_path_factory) -> Days:
    path = write_compact(tmp_path_factory.mktemp("covid") / "all.csv", 264)
    return Days.of_reports(read_source(path, date(2020, 12, 31)))


def test_increments_are_never_negative_and_unknown_beside_a_missing_day(days):
    deaths = days.daily("deaths")
    assert np.isnan(deaths[0]).all()
    ohio, place = PLACE["Ohio"], 4
    assert np.flatnonzero(np.isnan(deaths[:, ohio])).tolist() == [0, 20, 21]
    change = np.diff([deaths_of(place, day) for day in range(DAYS)])
    assert change.min() == 1  # The rhythm of place 4 takes back less than a day brings.
    np.testing.assert_array_equal(deaths[1:, place], change)
    assert deaths_of(3, 4) - deaths_of(3, 3) == 1
    np.testing.assert_allclose(days.population, [population(k) for k in range(50)])


def test_negative_increments_become_zero(tmp_path):
    folder = write_reports(tmp_path / "r", 5)
    text = (folder / "04-14-2020.csv").read_text().splitlines()
    cells = text[1].split(",")
    cells[6] = "0"
    (folder / "04-14-2020.csv").write_text("\n".join([text[0], ",".join(cells), *text[2:]]))
    deaths = Days.of_reports(read_source(folder, date(2020, 4, 16))).daily("deaths")
    assert deaths[1:4, 0].tolist() == [1.0, 0.0, 3.0]


def test_averages_are_of_the_day_and_those_before_it(days):
    daily, mean = days.daily("deaths"), days.averaged("deaths", 7)
    np.testing.assert_allclose(mean[30, 2], daily[24:31, 2].mean())
    assert np.isnan(mean[6, 2])  # The first day has no increment.
    assert np.isfinite(mean[7, 2])


def test_the_data_set_has_names_dates_units_and_splits(year, tmp_path):
    data = build(year, CovidSettings(average=7, transform="sqrt"))
    assert data.split.tolist() == ["train", *["val"] * 5, "test"]
    assert data.system_label(0) == "train 2020-04-12 to 2020-10-26"
    assert data.system_label(5) == "val 2020-09-27 to 2020-11-28"
    assert data.system_label(6) == "test 2020-10-18 to 2020-12-31"
    assert data.object_label(0, 49) == "Wyoming"
    assert data.features == ("confirmed", "deaths", "recovered", "mortality_rate", "testing_rate")
    assert str(data.when(1.0)).startswith("2020-04-13")
    assert "vintage" in data.dataset.attrs["title"]
    files.write(data, tmp_path / "covid.nc")
    assert files.read(tmp_path / "covid.nc").hash == data.hash


def test_training_ends_before_the_first_validated_day_or_the_first_test_day(year):
    data = build(year, CovidSettings(validation=5))
    train, first = data.times[0], data.times[1]
    assert np.nanmax(train) + 1 == first[42]
    whole = build(year, CovidSettings(validation=0, features=("confirmed", "deaths")))
    assert whole.split.tolist() == ["train", "test"]
    assert FIRST + timedelta(days=int(np.nanmax(whole.times[0]))) == date(2020, 11, 28)


def test_days_can_be_read_back_from_a_daily_data_set(year):
    back = Days.of_data(build(year))
    np.testing.assert_array_equal(back.values, year.values)
    np.testing.assert_allclose(back.population, year.population)
    assert back.origin == year.origin
    with pytest.raises(InputError, match="not a data set of daily reports"):
        Days.of_data(build(year, CovidSettings(average=7)))


def test_borders_are_mutual_and_islands_have_none():
    edges = graph.neighbours()
    np.testing.assert_array_equal(edges, edges.T)
    assert edges.sum() == 214
    assert edges[PLACE["Alaska"]].sum() == edges[PLACE["Hawaii"]].sum() == 0
    assert edges[PLACE["Maine"]].sum() == 1
    assert edges[PLACE["Missouri"]].sum() == edges[PLACE["Tennessee"]].sum() == 8
    assert len({state.fips for state in STATES}) == 50


def test_gravity_prefers_large_and_near_states(days):
    data = build(days, CovidSettings(graph="gravity", validation=0))
    weight = data.edges.edge_attributes[:, 0]
    received = np.bincount(data.edges.edge_receiver, weights=weight)
    np.testing.assert_allclose(received, 1.0)
    assert (np.bincount(data.edges.edge_receiver) == 8).all()
    pull = graph.gravity(np.array([1.0, 2.0, 1.0]), np.array([0, 0, 0.0]), np.array([0, 1, 2.0]), 2)
    np.testing.assert_allclose(pull[0], [0, 8 / 9, 1 / 9], atol=1e-4)


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"graph": "roads"}, 'there is no graph "roads"'),
        ({"features": ("confirmed",)}, "do not contain deaths"),
        ({"features": ("deaths", "icu")}, 'no feature "icu"'),
        ({"average": 0}, "--average is 0"),
        ({"validation": 5}, "are left for training"),
    ],
)
def test_bad_settings_are_refused(days, settings, says):
    with pytest.raises(InputError, match=says):
        build(days, CovidSettings(**settings))
