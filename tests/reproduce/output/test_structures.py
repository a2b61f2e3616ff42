"""The molecular figure: bonds of heavy atoms, forecasts over the truth, deviations in Å."""

import numpy as np
import pytest

from pgode.data.trajectories import Trajectories
from pgode.reproduce.output.structures import structure_figure

ATOMS = (("N", "N", 0.0), ("CA", "C", 0.147), ("HA", "H", 0.2), ("C", "C", 0.3))
"""Name, element and place along x, in nm."""
PDB = "".join(
    f"ATOM  {k + 1:5d}  {name:<3s} GLY A   1    {10 * x:8.3f}{0:8.3f}{0:8.3f}  1.00  0.00"
    f"          {element:>2s}\n"
    for k, (name, element, x) in enumerate(ATOMS)
)


@pytest.fixture
def molecule() -> Trajectories:
    """Four atoms on a line that rest for six frames."""
    states = np.zeros((1, 4, 6, 3))
    states[..., 0] = np.array([x for *_, x in ATOMS])[:, None]
    return Trajectories.build(
        states,
        np.arange(6.0),
        edges=np.zeros((1, 4, 4)),
        features=("qx", "qy", "qz"),
        roles=("position",) * 3,
        units=("nm",) * 3,
        topology=PDB,
    )


def test_each_frame_has_a_panel_for_each_method_with_its_deviation(molecule):
    right = molecule.states[0][:, 2:]
    off = right + np.array([0.0, 0.05, 0.0])  # half an Ångström aside
    figure = structure_figure(molecule, {"right": right, "off": off}, 2, (1, 4), "nm")
    titles = [panel.get_title() for panel in figure.axes]
    assert titles == [
        "right, 1 frames: 0.00 Å",
        "off, 1 frames: 0.50 Å",
        "right, 4 frames: 0.00 Å",
        "off, 4 frames: 0.50 Å",
    ]
    true, forecast = figure.axes[1].collections
    for lines in (true, forecast):
        assert len(lines.get_segments()) == 2  # N-CA and CA-C: hydrogens are not drawn
    lengths = [np.linalg.norm(a - b) for a, b in true.get_segments()]
    assert lengths == pytest.approx([1.47, 1.53])
