from dataclasses import replace

import numpy as np
import pytest
from tests.reports.fabricate import springs_report

from pgode.reports.base import example as room
from pgode.reports.base.example import Example, included
from pgode.runtime.errors import InputError


@pytest.fixture(scope="module")
def example() -> Example:
    return springs_report(each=1).examples[0]


@pytest.mark.parametrize("name", ["observed", "lower", "upper", "truth", "forecast_times", "gate"])
def test_arrays_that_do_not_fit_are_refused_by_name(example, name):
    with pytest.raises(InputError, match=rf"test system 0: {name} has the shape"):
        replace(example, **{name: getattr(example, name)[:-1]})


def test_an_edge_to_an_object_that_is_not_there_is_refused(example):
    with pytest.raises(InputError, match="edge from object 2 to object 10"):
        replace(example, edges=[(10, 2, 1.0)])


def test_a_forecast_that_runs_away_does_not_set_the_range_shown(example):
    away = replace(example, forecast=example.forecast * 1e6)
    known = np.concatenate([example.observed, example.truth], axis=1)
    spread = np.ptp(known.reshape(-1, 4), axis=0)
    assert (np.ptp(away.bounds(), axis=1) < 2.3 * spread).all()


def test_without_truth_the_forecast_sets_the_range_shown(example):
    blind = replace(
        example, truth=np.full_like(example.truth, np.nan), forecast=example.forecast + 50
    )
    assert blind.bounds()[0, 1] > 50


def test_a_feature_without_any_value_still_has_a_range(example):
    gone = {name: np.full_like(getattr(example, name), np.nan) for name in ("observed", "truth")}
    empty = replace(example, **gone, forecast=np.full_like(example.forecast, np.nan))
    np.testing.assert_array_equal(empty.bounds(), [[0, 1]] * 4)


def test_the_first_objects_keep_the_edges_among_them(example):
    small = example.first(3)
    assert small.objects == 3 and small.gate.shape == (3, 5)
    assert small.edges == [edge for edge in example.edges if edge[0] < 3 and edge[1] < 3]


def test_too_many_systems_are_thinned_evenly_over_splits(example, monkeypatch):
    monkeypatch.setattr(room, "MAX_VALUES", 4 * example.values)
    many = [
        replace(example, split=s, number=n, edges=[]) for s in ("test", "ood") for n in range(9)
    ]
    kept = included(many)
    assert [(each.split, each.number) for each in kept] == [
        ("test", 0),
        ("test", 1),
        ("ood", 0),
        ("ood", 1),
    ]


def test_every_split_keeps_a_system_however_large(example, monkeypatch):
    monkeypatch.setattr(room, "MAX_VALUES", 1)
    monkeypatch.setattr(room, "MAX_OBJECTS", 4)
    kept = included([replace(example, split=split) for split in ("test", "test", "ood")])
    assert [(each.split, each.objects) for each in kept] == [("test", 4), ("ood", 4)]
