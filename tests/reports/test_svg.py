import numpy as np
import pytest

from pgode.reports import svg


def test_a_logarithmic_axis_gives_every_decade_the_same_length():
    axis = svg.Axis(1e-4, 1.0, 0.0, 400.0, log=True)
    np.testing.assert_allclose(axis.place(np.array([1e-4, 1e-2, 1.0])), [0, 200, 400])
    assert np.isnan(axis.place(np.array([0.0, -1.0]))).all()
    assert [label for _, label in axis.ticks()] == ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]


def test_within_one_decade_a_logarithmic_axis_still_has_ticks():
    labels = [label for _, label in svg.Axis(0.15, 0.9, 0.0, 100.0, log=True).ticks()]
    assert labels == ["0.2", "0.5"]


def test_ticks_are_round_and_lie_on_the_axis():
    ticks = svg.Axis(-0.31, 0.29, 0.0, 100.0).ticks()
    assert [label for _, label in ticks] == ["-0.3", "-0.2", "-0.1", "0", "0.1", "0.2"]


@pytest.mark.parametrize("values", [[], [np.nan], [2.0], [2.0, 2.0], [0.0]])
@pytest.mark.parametrize("log", [True, False])
def test_an_axis_exists_even_for_one_value_or_none(values, log):
    axis = svg.Axis.around(np.array(values), 0.0, 100.0, log=log)
    assert axis.high > axis.low and axis.ticks(3) is not None
    if values == [2.0]:
        assert 0 < axis.place(np.array([2.0]))[0] < 100


def test_a_line_breaks_where_a_value_is_missing_and_a_lone_point_stays_visible():
    x = np.arange(6.0)
    y = np.array([1, 2.04, np.nan, 3, np.nan, np.inf])
    assert svg.path(x, y) == "M0 1 1 2M3 3h0"


def test_a_band_runs_forth_along_the_top_and_back_along_the_bottom():
    drawn = svg.band(np.array([0.0, 10.0]), np.array([5.0, 6.0]), np.array([1.0, 2.0]))
    assert drawn == "M0 1 10 2 10 6 0 5"
    assert svg.band(np.array([0.0]), np.array([np.nan]), np.array([1.0])) == ""


def test_text_is_escaped():
    assert "&lt;b&gt;" in svg.text(0, 0, "<b>", "tick")


def test_what_runs_away_stays_a_short_number():
    placed = svg.Axis(0.0, 1.0, 0.0, 100.0).place(np.array([1e30, -1e30]))
    np.testing.assert_array_equal(placed, [9999, -9999])
