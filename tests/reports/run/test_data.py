from dataclasses import replace

import pytest
from tests.reports.fabricate import planar

from pgode.reports.run.data import lines, planes
from pgode.runtime.errors import InputError


def test_labels_must_fit_the_features():
    report = planar(("x", "y"), ("position",) * 2)
    with pytest.raises(InputError, match="2 features but 1 units"):
        replace(report, units=("mm",))
    with pytest.raises(InputError, match=r"test system 0 has 2 features\. Expected 1: x"):
        replace(report, features=("x",), roles=("value",), variables=("x",), units=("",))


@pytest.mark.parametrize(
    "positions, expected",
    [(0, []), (1, []), (2, ["a, b"]), (3, ["a, b", "a, c", "b, c"])],
)
def test_planes_are_the_pairs_of_positions(positions, expected):
    roles = ("position",) * positions + ("value",) * (3 - positions)
    report = planar(("a", "b", "c"), roles)
    assert [view.label for view in planes(report)] == expected
    assert [(view.x, view.y) for view in lines(report)] == [(None, 0), (None, 1), (None, 2)]
