import numpy as np
import pytest

from pgode.reports.base import svg


def test_a_logarithmic_axis_gives_every_decade_the_same_length():
    axis = svg.Axis(1e-4, 1.0, 0.0, 400.0, log=True)
    np.testing.assert_allclose(axis.place(np.array([1e-4, 1e-2, 1.0])), [0, 200, 400])
    assert np.isnan(axis.place(np.array([0.0, -1.0]))).all()
    assert [label for _, label in axis.ticks()] == ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]


def test_an_axis_that_counts_has_only_whole_ticks():
    labels = [label for _, label in svg.Axis(1.0, 4.0, 0.0, 500.0, whole=True).ticks(7)]
    assert labels == ["1", "2", "3", "4"]


def test_very_small_and_large_values_leave_their_power_to_the_name_of_the_axis():
    tiny = svg.Axis(-2.7762e-8, -2.7738e-8, 0.0, 100.0)
    assert [label for _, label in tiny.ticks(3)] == ["-2.776", "-2.775", "-2.774"]
    assert tiny.named("loss") == "loss (× 10⁻⁸)" and tiny.named("") == "× 10⁻⁸"
    far = svg.Axis(5_000_000.0, 5_000_001.0, 0.0, 100.0)
    assert [label for _, label in far.ticks(3)] == ["5", "5.0000005", "5.000001"]
    plain = svg.Axis(0.0, 1e-3, 0.0, 100.0)
    assert plain.named("loss") == "loss" and plain.ticks(3)[1][1] == "0.0005"


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
