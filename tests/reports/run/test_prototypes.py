import re
from dataclasses import replace

import numpy as np
from tests.reports.fabricate import planar

from pgode.reports.run.prototypes import gate_map


def test_a_cell_is_as_opaque_as_its_weight_and_says_what_it_is():
    example = planar(("x",), ("value",), objects=2).examples[0]
    gate = np.array([[0.25, 0.75], [1.0, 0.0]])
    drawn = gate_map(replace(example, gate=gate), gate)
    cells = dict(re.findall(r'fill-opacity="([\d.]+)" data-tip="([^"]*)"', drawn))
    assert cells["0.250"] == "object 0, prototype 0: 0.250"
    assert cells["1.000"] == "object 1, prototype 0: 1.000"
    assert cells["0.625"] == "prototype 0, mean over objects: 0.625"


def test_many_objects_have_cells_without_numbers():
    example = planar(("x",), ("value",), objects=60).examples[0]
    gate = np.full((60, 3), 1 / 3)
    drawn = gate_map(replace(example, gate=gate), gate)
    assert drawn.count("<rect") == 60 * 3 + 3 and drawn.count('class="weight') == 3


def test_a_weight_that_is_not_known_is_an_empty_cell():
    example = planar(("x",), ("value",), objects=1).examples[0]
    drawn = gate_map(example, np.array([[np.nan, 1.0]]))
    assert 'fill-opacity="0.000"' in drawn and ">nan<" not in drawn
