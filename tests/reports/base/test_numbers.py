import numpy as np
import pytest

from pgode.reports.base.numbers import (
    excess,
    finite,
    in_units,
    power_of_ten,
    short_list,
    significant,
    suitable_exponent,
    times,
)


@pytest.mark.parametrize(
    "value, words",
    [
        (0.0123456, "0.0123"),
        (1.23456, "1.23"),
        (9.996, "10.0"),
        (123.456, "123"),
        (4213.7, "4214"),
        (-0.5, "-0.500"),
        (0.0, "0"),
        (1e-7, "1.00e-07"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_three_significant_digits_in_plain_notation_while_short(value, words):
    assert significant(value) == words


def test_what_is_no_number_counts_as_missing():
    assert finite(np.float32(0.5)) == 0.5 and finite(3) == 3.0
    assert all(np.isnan(finite(value)) for value in (None, "0.5", True, {}))


def test_the_power_of_a_table_suits_its_median_and_is_left_out_where_it_would_not_help():
    assert suitable_exponent([3e-4, 5e-4, 2.0]) == -4
    assert suitable_exponent([0.5, 0.02, 0.3]) == 0
    assert suitable_exponent([12.0, 150.0, 3.0]) == 0
    assert suitable_exponent([0.0, float("nan")]) == 0
    assert in_units(-4) == ", in units of 10⁻⁴" and in_units(0) == ""
    assert power_of_ten(0) == "1" and power_of_ten(-12) == "10⁻¹²"


def test_ratios_have_two_digits():
    assert [times(x) for x in (1.337, 9.96, 93.4, 1284.0)] == ["1.3 ×", "10 ×", "93 ×", "1,300 ×"]


def test_a_small_excess_is_a_percentage():
    assert [excess(x) for x in (1.012, 1.37, 20.0)] == ["+1.2 %", "1.4 ×", "20 ×"]


def test_values_for_json_are_short_and_never_nan():
    assert short_list(np.array([0.123456, np.nan, 1e-9])) == [0.1235, None, 1e-9]
