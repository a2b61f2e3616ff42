"""Values of single features: what is reported, and what is not."""

import numpy as np
import pytest
from tests.data.checkup.made import arrays, built, series, subject

from pgode.data.checkup.checks import values


def states() -> np.ndarray:
    return arrays()["states"]


@pytest.mark.parametrize(
    "check",
    [
        values.never_observed,
        values.missing,
        values.constant,
        values.extreme,
        values.heavy_tails,
        values.scales,
        values.units,
    ],
    ids=lambda check: check.__name__,
)
def test_clean_data_give_no_finding(check):
    assert check(subject()) == []


def test_a_feature_without_any_value_is_a_problem_by_name():
    observed = np.ones(states().shape, dtype=bool)
    observed[..., 1] = False
    found = values.never_observed(subject(built(observed=observed)))
    assert [(f.severity, f.place.feature) for f in found] == [("problem", "y")]


def test_an_object_without_any_value_is_a_note_by_name():
    observed = np.ones(states().shape, dtype=bool)
    observed[3, 2] = False
    (found,) = values.never_observed(subject(built(observed=observed)))
    assert found.severity == "note" and "1 object of 160" in found.text
    assert (found.place.system, found.place.object) == ("walk 3", "p2")


@pytest.mark.parametrize("share, severity", [(0.1, "note"), (0.5, "warning"), (0.95, "problem")])
def test_the_share_of_missing_values_decides_how_bad_it_is(share, severity):
    observed = np.ones(states().shape, dtype=bool)
    observed[..., 2] = np.random.default_rng(0).random(observed.shape[:3]) > share
    observed[5, 1, :, 2] = False
    (found,) = values.missing(subject(built(observed=observed)))
    assert found.severity == severity
    if severity == "note":
        assert found.text == "missing: 10.9 % of vx." and found.place.feature == "vx"
    else:
        assert share > 0.9 or str(found.place) == "walk 5, p1, vx"
        assert "of this object 100 %" in found.text


def test_a_feature_that_is_the_same_everywhere_is_constant():
    given = states()
    given[..., 1] = 2.5
    (found,) = values.constant(subject(built(states=given)))
    assert found.text == "y is 2.5 everywhere, so there is nothing to forecast."


def test_a_property_of_objects_should_be_a_constant():
    given = states()
    given[..., 1] = np.arange(4)[:, None]
    (found,) = values.constant(subject(built(states=given)))
    assert "property of objects" in found.text and "--static y" in found.fix


def test_constant_velocities_are_free_motion():
    given = states()
    given[..., 2:] = given[:, :, :1, 2:]
    assert values.constant(subject(built(states=given))) == []


def test_a_code_for_missing_values_is_named_with_its_place():
    given = states()
    given[7, 1, 20:30, 0] = -999
    (found,) = values.extreme(subject(built(states=given)))
    assert found.severity == "problem" and "code for missing values" in found.text
    assert "occurs 10 times" in found.text
    assert str(found.place) == "walk 7, p1, time 2 seconds, x"


def test_many_codes_do_not_hide_themselves():
    given = states()
    given[::3, 1, :, 0] = -999
    (found,) = values.extreme(subject(built(states=given)))
    assert "-999" in found.text and "98 % are from -1." in found.text


def test_a_single_impossible_value_is_a_problem():
    given = states()
    given[7, 1, 20, 0] = 4e4
    (found,) = values.extreme(subject(built(states=given)))
    assert found.severity == "problem" and "4e+04 here, far from all others" in found.text


def counts() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(np.exp(np.linspace(0, 9, 20))[:, None] * np.ones(200))


def test_counts_over_orders_of_magnitude_get_a_logarithm():
    (found,) = values.heavy_tails(series(counts()))
    assert found.severity == "warning" and "--transform log1p" in found.fix
    assert found.text.startswith("cases spans orders of magnitude")
    assert values.extreme(series(counts())) == []


def test_with_the_logarithm_nothing_is_said():
    assert values.heavy_tails(series(counts(), transforms=("log1p",))) == []


def test_components_of_one_variable_on_different_scales_are_named():
    given = states()
    given[..., 1] *= 1000
    (found,) = values.scales(subject(built(states=given)))
    assert found.text.startswith("x spreads") is False and "y spreads" in found.text
    assert "components of position" in found.text


def test_missing_units_are_a_note():
    (found,) = values.units(subject(built(units=None)))
    assert found.severity == "note" and "x, y, vx, vy" in found.text
