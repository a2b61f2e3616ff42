"""Domains: where values lie, what they contain, and how they are written."""

import math

import pytest

from pgode.tuning.space.domains import (
    Choice,
    Range,
    combinations,
    contains,
    short_names,
    shown,
    space_from_json,
    space_json,
)


def test_a_logarithmic_range_places_values_by_their_logarithm():
    domain = Range(1e-4, 1e-2, log=True)
    assert [domain.position(value) for value in (1e-4, 1e-3, 1e-2)] == pytest.approx([0, 0.5, 1])
    assert Range(2, 8).position(5) == 0.5
    assert contains(domain, 1e-3) and not contains(domain, 0.1) and not contains(domain, 0)


def test_true_is_not_one_of_the_numbers():
    assert contains(Choice((1, 2)), 1) and not contains(Choice((1, 2)), True)
    assert contains(Choice((None, 3)), None)
    assert math.isnan(Choice((1, 2)).position("x"))


def test_all_combinations_of_a_finite_space_and_none_of_an_infinite_one():
    finite = {"a": Choice((1, None)), "b": Range(2, 3)}
    found = list(combinations(finite) or ())
    assert found == [{"a": x, "b": y} for x in (1, None) for y in (2, 3)]
    assert combinations({**finite, "c": Range(0.1, 0.2)}) is None


def test_a_space_is_the_same_after_json():
    space = {"a": Choice((True, "rk4", None)), "b": Range(1, 5), "c": Range(0.1, 1.0, log=True)}
    assert space_from_json(space_json(space)) == space


def test_names_are_as_short_as_they_are_clear():
    names = ("model.width", "model.encoder.layers", "model.layers", "training.batch")
    short = short_names(dict.fromkeys(names, Range(1, 2)))
    assert short == {
        "model.width": "width",
        "model.encoder.layers": "encoder.layers",
        "model.layers": "model.layers",
        "training.batch": "batch",
    }
    assert [shown(value) for value in (None, True, 0.000123456, 5)] == [
        *("null", "true", "0.0001235", "5")
    ]
