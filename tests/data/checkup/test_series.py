"""Jumps and frozen values are named with their place; encounters and standing still are not."""

import numpy as np
from tests.data.checkup.made import arrays, built, series, subject

from pgode.data.checkup.checks.series import frozen, jumps


def test_smooth_paths_give_no_finding():
    assert jumps(subject()) == frozen(subject()) == []


def test_a_jump_is_named_with_its_size_and_place():
    given = arrays()["states"]
    given[7, 1, 20, 0] += 5
    (found,) = jumps(subject(built(states=given)))
    assert found.severity == "warning" and "x jumps from " in found.text
    assert "2 such steps in all" in found.text
    assert str(found.place) == "walk 7, p1, time 2 seconds, x"


def test_velocities_may_turn_within_a_frame():
    given = arrays()["states"]
    given[7, 1, 20:, 2] *= -50
    assert jumps(subject(built(states=given))) == []


def test_counts_may_grow_fast():
    rng = np.random.default_rng(0)
    level = np.exp(np.linspace(0, 9, 20))[:, None] * np.exp(np.sin(np.arange(200) / 20))
    assert jumps(series(rng.poisson(level))) == []


def test_a_small_object_may_differ_from_a_large_one():
    rng = np.random.default_rng(0)
    total = np.cumsum(rng.poisson(np.exp(np.linspace(0, 9, 20))[:, None] * np.ones(200)), axis=1)
    assert jumps(series(total)) == []
    total[3, 100:] += 40_000
    (found,) = jumps(series(total))
    assert found.place.object == "object 3" and found.place.time == "2020-06-09"


def test_the_worst_three_features_are_listed_and_the_others_named():
    rng = np.random.default_rng(0)
    given = arrays()["states"][..., [0, 1, 0, 1, 0]] + 0.01 * rng.normal(size=(40, 4, 60, 5))
    given[7, 1, 20] += [5, 6, 7, 8, 9]
    data = built(states=given, features=("a", "b", "c", "d", "e"), units=None)
    found = jumps(subject(data))
    assert [f.place.feature for f in found] == ["e", "d", "c"]
    assert found[-1].text.endswith("Also in b, a.")


def test_a_stuck_sensor_is_named_with_the_end_of_its_rest():
    given = arrays()["states"]
    given[7, 1, 20:40, 0] = given[7, 1, 20, 0]
    (found,) = frozen(subject(built(states=given)))
    assert found.severity == "warning" and "for 20 frames until then" in found.text
    assert str(found.place) == "walk 7, p1, time 3.9 seconds, x"


def test_counts_may_rest_at_zero():
    counts = np.random.default_rng(0).poisson(5.0, (6, 100))
    counts[2, 30:60] = 0
    assert frozen(series(counts)) == []


def test_an_object_that_never_moves_is_not_stuck():
    given = arrays()["states"]
    given[:, 1] = given[:, 1, :1]
    assert frozen(subject(built(states=given))) == []
