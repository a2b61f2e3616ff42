"""The paper's molecular figure: predicted structures over the true one, as lines on paper."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from pgode.data.trajectories import Trajectories
from pgode.reports.molecule.atoms import atoms_of
from pgode.reports.molecule.data import MoleculeData

TRUTH, FORECAST = "0.7", "tab:blue"


def structure_figure(
    system: Trajectories,
    forecasts: Mapping[str, Float[np.ndarray, "atom frame feature"]],
    condition: int,
    frames: Sequence[int],
    unit: str,
) -> Figure:
    """A row of panels for each of these frames ahead, a column for each method.

    Heavy atoms are joined by their bonds and seen along the axis in which the true structure is
    thinnest. Titles give the root mean square deviation of the heavy atoms shown.
    """
    figure = Figure(figsize=(3.2 * len(forecasts), 2.6 * len(frames)), layout="constrained")
    axes = figure.subplots(len(frames), len(forecasts), squeeze=False)
    x, y, z = system.position_features
    every = atoms_of(system.topology, system.dataset["group"].values[0])
    heavy = np.flatnonzero([atom.element != "H" for atom in every])
    molecule = MoleculeData([every[k] for k in heavy], (x, y, z), unit)
    truth = molecule.positions(system.states[0][heavy, condition:])
    bonds = np.array(molecule.bonds(truth[0]))
    for panels, frame in zip(axes, frames, strict=True):
        real = truth[frame - 1] * molecule.angstroms
        view = _flattest_view(real)
        for panel, (name, forecast) in zip(panels, forecasts.items(), strict=True):
            ours = molecule.positions(forecast[heavy])[frame - 1] * molecule.angstroms
            _draw(panel, real @ view, bonds, TRUTH, 3.0)
            _draw(panel, ours @ view, bonds, FORECAST, 1.2)
            apart = np.sqrt(np.mean(np.sum((ours - real) ** 2, axis=-1)))
            panel.set_title(f"{name}, {frame} frames: {apart:.2f} Å", fontsize=8)
    return figure


def _draw(
    panel: Axes,
    points: Float[np.ndarray, "atom 2"],
    bonds: Int[np.ndarray, "bond 2"],
    colour: str,
    width: float,
) -> None:
    panel.add_collection(LineCollection(list(points[bonds]), colors=colour, linewidths=width))
    panel.autoscale_view()
    panel.set_aspect("equal", adjustable="datalim")
    panel.set_axis_off()


def _flattest_view(points: Float[np.ndarray, "atom 3"]) -> Float[np.ndarray, "3 2"]:
    """The two axes along which the points extend most."""
    _, _, directions = np.linalg.svd(points - points.mean(0), full_matrices=False)
    return np.asarray(directions[:2].T)
