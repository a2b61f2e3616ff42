"""Ranges of parameters: inside for training, outside for out-of-distribution."""

import numpy as np
import pytest

from pgode.data.simulate import SYSTEMS
from pgode.data.simulate.parameters import Ranges

RANGES = Ranges(inner={"a": (0.4, 0.6), "b": (0.0, 1.0)}, outer={"a": (0.0, 1.0), "b": (0.0, 1.0)})


def drawn(ranges: Ranges, *, ood: bool, count: int = 2000) -> np.ndarray:
    stream = np.random.default_rng(0)
    return np.array([ranges.draw(stream, ood=ood) for _ in range(count)])


@pytest.mark.parametrize("name", SYSTEMS)
def test_training_parameters_lie_in_the_inner_box_and_fill_it(name):
    ranges = SYSTEMS[name].ranges
    values = drawn(ranges, ood=False)
    assert ranges.inside(values).all()
    low, high = np.array(list(ranges.inner.values())).T
    np.testing.assert_allclose(values.min(0), low, atol=0.01 * (high - low).max())
    np.testing.assert_allclose(values.max(0), high, atol=0.01 * (high - low).max())


@pytest.mark.parametrize("name", SYSTEMS)
def test_ood_parameters_lie_in_the_outer_box_but_not_in_the_inner_one(name):
    ranges = SYSTEMS[name].ranges
    values = drawn(ranges, ood=True)
    assert not ranges.inside(values).any()
    low, high = np.array(list(ranges.outer.values())).T
    assert ((values >= low) & (values <= high)).all()


def test_ood_draws_are_uniform_over_what_lies_outside():
    values = drawn(RANGES, ood=True, count=20000)
    below = values[:, 0] < 0.4
    assert below.mean() == pytest.approx(0.5, abs=0.02)
    assert values[below, 0].mean() == pytest.approx(0.2, abs=0.005)
    assert values[:, 1].mean() == pytest.approx(0.5, abs=0.01)


def test_a_parameter_on_the_edge_of_the_inner_box_is_inside():
    np.testing.assert_array_equal(
        RANGES.inside(np.array([[0.4, 1.0], [0.399, 1.0]])), [True, False]
    )


def test_boxes_with_nothing_between_them_are_refused():
    with pytest.raises(ValueError, match="wider"):
        Ranges(inner={"a": (0.0, 1.0)}, outer={"a": (0.2, 0.8)})


def test_the_ranges_are_those_of_the_papers_table():
    springs, charged = SYSTEMS["springs"].ranges, SYSTEMS["charged"].ranges
    assert springs.names == charged.names == ("box", "speed", "strength", "probability")
    assert (springs.inner["strength"], springs.outer["strength"]) == ((0.09, 0.11), (0.08, 0.12))
    assert (charged.inner["strength"], charged.outer["strength"]) == ((0.9, 1.1), (0.8, 1.2))
    for name, middle in [("box", 5.0), ("speed", 0.5), ("probability", 0.5)]:
        width = middle / 50
        for ranges in (springs, charged):
            assert ranges.inner[name] == pytest.approx((middle - width, middle + width))
            assert ranges.outer[name] == pytest.approx((middle - 2 * width, middle + 2 * width))
