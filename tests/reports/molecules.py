"""A molecule of three residues and nineteen atoms that drift, and a run trained on it."""

from functools import cache

import numpy as np

from pgode.data.molecules import Atoms, Molecule, Preparation, prepare
from pgode.data.trajectories import Trajectories
from pgode.runs.run import Run
from pgode.runs.training import train

GLYCINE = ("N", "CA", "C", "O", "HA2", "HA3")
ALANINE = ("N", "CA", "C", "O", "CB", "HA", "HB1")
RESIDUES = (("GLY", 4, GLYCINE), ("ALA", 5, ALANINE), ("GLY", 7, GLYCINE))
PLACES = {
    "N": (0, 0, 0),
    "CA": (1.46, 0, 0),
    "C": (2.0, 1.42, 0),
    "O": (1.25, 2.39, 0),
    "CB": (2.0, -0.8, 1.2),
    "HA": (1.8, -0.5, -0.9),
    "HA2": (1.8, -0.5, -0.9),
    "HA3": (1.8, -0.6, 0.85),
    "HB1": (3.1, -0.8, 1.2),
}
STEP = np.array([3.3, 1.5, 0.4])
"""From one residue to the next: the bond C-N is then 1.36 Å."""


@cache
def molecule() -> Molecule:
    """Residues GLY 4, ALA 5 and GLY 7; their PDB lines hold no coordinates to rely on."""
    rows = [(residue, name) for residue, (_, _, names) in enumerate(RESIDUES) for name in names]
    lines = []
    for k, (residue, name) in enumerate(rows):
        title, number, _ = RESIDUES[residue]
        lines.append(
            f"ATOM  {k + 1:5d}  {name:<3s} {title} A{number:4d}    "
            f"{0:8.3f}{0:8.3f}{0:8.3f}  1.00  0.00          {name[0]:>2s}"
        )
    names = np.array([name for _, name in rows])
    mass = np.array([{"H": 1.0, "C": 12.0, "N": 14.0, "O": 16.0}[name[0]] for name in names])
    groups = np.array([residue for residue, _ in rows])
    hydrogen = np.char.startswith(names, "H")
    return Molecule("\n".join([*lines, "END", ""]), mass, groups, hydrogen, names == "CA")


def start() -> np.ndarray:
    """The atoms at rest, in nm."""
    return (
        np.array(
            [
                np.array(PLACES[name]) + residue * STEP
                for residue, (_, _, names) in enumerate(RESIDUES)
                for name in names
            ]
        )
        / 10
    )


@cache
def trajectories(atoms: Atoms = "all") -> Trajectories:
    """Nine systems of eighteen frames, in all four splits."""
    stream = np.random.default_rng(3)
    rest = start()
    moves = np.cumsum(stream.normal(0, 0.004, (9, 18, *rest.shape)), axis=1)
    split = ["train"] * 3 + ["val"] * 2 + ["test"] * 2 + ["ood"] * 2
    return prepare(
        rest + moves, np.arange(18) * 0.2, molecule(), Preparation(atoms), {}, split=split
    )


def trained_on(data: Trajectories, folder) -> Run:
    """One epoch, with the tiny settings of `tests.trained_runs`."""
    from tests.trained_runs import settings

    run = train(data, folder, settings(training_epochs=1))
    assert run is not None
    return run
