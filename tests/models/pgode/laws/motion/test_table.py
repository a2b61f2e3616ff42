"""Tables over the squared distance."""

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.motion.small_motion import power_table

from pgode.models.pgode.laws.motion.plain import tabulated
from pgode.models.pgode.laws.motion.table import Cells


@pytest.mark.parametrize("exponent", [-2.0, -1.0, 0.5, 1.0, -6.0])
def test_table_reproduces_a_power_law_to_eight_digits(exponent: float) -> None:
    cells = Cells.covering(2.0**-8, 2.0**4)
    distance = torch.from_numpy(np.geomspace(2.0**-8, 2.0**4, 1001))
    found = tabulated(distance[None].square(), power_table((exponent,), cells), cells.first)
    law = found[0, :, 0] * distance
    # The error of cubic cells grows with the fourth power of the steepness.
    allowed = 1e-8 if abs(exponent) <= 2 else 1e-6
    torch.testing.assert_close(law, distance**exponent, rtol=allowed, atol=0)


def test_cells_cover_both_ends() -> None:
    cells = Cells.covering(0.3, 7.0)
    assert cells.edges[0] <= 0.09 < cells.edges[1]
    assert cells.edges[-2] <= 49.0 < cells.edges[-1]
    assert (np.diff(cells.edges) > 0).all()
    octaves = np.log2(cells.edges[64:] / cells.edges[:-64])
    np.testing.assert_allclose(octaves, 1, rtol=1e-12)


def test_beyond_the_table_force_over_distance_is_that_of_its_ends() -> None:
    cells = Cells.covering(0.5, 2.0)
    table = power_table((-2.0,), cells)
    beyond = tabulated(torch.tensor([[0.0, 1e-4, 1e4]]).double(), table, cells.first)
    ends = tabulated(torch.from_numpy(cells.edges[[0, -1]])[None], table, cells.first)
    torch.testing.assert_close(beyond[0, :2, 0], ends[0, :1, 0].expand(2))
    torch.testing.assert_close(beyond[0, 2], ends[0, 1])
