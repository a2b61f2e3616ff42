"""The player of molecules: the data of its script, and the library that draws in 3D."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.reports.base.example import Example
from pgode.reports.base.numbers import short_list
from pgode.reports.base.page import asset
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import rmsd

PER_ANGSTROM = 100
"""Coordinates are whole numbers of 0.01 Å: finer than bonds vibrate, and short in JSON."""
FAR = 10**7
"""Coordinates of a diverging forecast are cut here, to keep the page small."""


def player_data(
    molecule: MoleculeData, examples: Sequence[Example], time_units: str
) -> dict[str, Any]:
    """The data of the player's script.

    Bonds are those of the first frame with all atoms known, and the same in all frames and systems.
    """
    frames = (frame for each in examples for frame in molecule.positions(each.observed))
    first = next((frame for frame in frames if np.isfinite(frame).all()), None)
    bonds = [] if first is None else molecule.bonds(first)
    return {
        "elements": [atom.element for atom in molecule.atoms],
        "names": [atom.name for atom in molecule.atoms],
        "residues": [atom.residue for atom in molecule.atoms],
        "bonds": [index for pair in bonds for index in pair],
        "chained": molecule.chained,
        "unit": molecule.unit,
        "time": time_units,
        "systems": [_system(molecule, example) for example in examples],
    }


def drawing_library() -> str:
    """3Dmol.js with its licence, as the text of a script element.

    Text that would end the element or start an HTML comment is broken up; inside strings of the
    script this changes nothing. The published library evaluates text that is passed as a
    callback. That part is removed when the library is fetched (`make vendor`), and the page's
    policy has no 'unsafe-eval'.
    """
    licence = asset("3Dmol-LICENSE.txt").replace("*/", "* /")
    whole = f"/*!\n{licence}\n*/\n{asset('3Dmol-min.js')}"
    return whole.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _system(molecule: MoleculeData, example: Example) -> dict[str, Any]:
    forecast, truth = (
        molecule.positions(states)[None].swapaxes(1, 2)
        for states in (example.forecast, example.truth)
    )
    return {
        "name": example.name,
        "condition": len(example.condition_times),
        # From the last observed frame; nine digits separate close times of a long record.
        "times": short_list(np.round(example.times - example.condition_times[-1], 9), 9),
        "observed": _coordinates(molecule, example.observed),
        "forecast": _coordinates(molecule, example.forecast),
        "truth": _coordinates(molecule, example.truth),
        "rmsd": short_list(rmsd(forecast, truth)[0]),
    }


def _coordinates(
    molecule: MoleculeData, states: Float[np.ndarray, "atom frame feature"]
) -> list[list[int] | None]:
    """Each frame as one list (x, y, z of each atom in turn); None where an atom is unknown."""
    scaled = molecule.positions(states) * molecule.angstroms * PER_ANGSTROM
    return [
        np.clip(np.round(frame), -FAR, FAR).astype(np.int64).ravel().tolist()
        if np.isfinite(frame).all()
        else None
        for frame in scaled
    ]
