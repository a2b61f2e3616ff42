"""The systems a page carries for its player of molecules, and the script that draws them."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.reports.base.numbers import short_list
from pgode.reports.molecule.data import MoleculeData, rmsd
from pgode.reports.run.data import MOST_OBJECTS, Example

PER_ANGSTROM = 100
"""Coordinates are whole numbers of 0.01 Å: finer than bonds vibrate, and short in JSON."""
FAR = 10**7
"""Where a forecast that ran away no longer matters; its exact place would only fill the page."""
WORDS = (
    "Any included system, frame by frame: the forecast in colour over the truth in grey. Frames up "
    "to time 0 were observed, and only they were seen by the model."
)


def molecule_content(molecule: MoleculeData, examples: Sequence[Example]) -> dict[str, Any] | None:
    """What the player's script reads; None where there is no system to show.

    Bonds come from the first frame that is wholly known and hold for all frames and systems.
    """
    if not examples:
        return None
    frames = (frame for each in examples for frame in _positions(molecule, each.observed))
    first = next((frame for frame in frames if np.isfinite(frame).all()), None)
    bonds = [] if first is None else molecule.bonds(first)
    return {
        "elements": [atom.element for atom in molecule.atoms],
        "names": [atom.name for atom in molecule.atoms],
        "residues": [atom.residue for atom in molecule.atoms],
        "bonds": [index for pair in bonds for index in pair],
        "chained": molecule.chained,
        "unit": molecule.unit,
        "systems": [_system(molecule, example) for example in examples],
    }


def molecule_player(options: str) -> str:
    """The player's controls; `options` are the systems to choose from."""
    text = (files("pgode.reports") / "assets" / "molecule.html").read_text(encoding="utf-8")
    return Template(text).substitute(systems=options, words=escape(WORDS))


def skeleton(molecule: MoleculeData, example: Example) -> Example:
    """A system with few enough atoms for a flat picture, each by its name."""
    labels = [f"{atom.residue} {atom.name}" for atom in molecule.atoms]
    return replace(example, labels=labels).only(molecule.backbone).first(MOST_OBJECTS)


def drawing_library() -> str:
    """3Dmol.js with its licence, as the text of a script element.

    Text that would end the element or start a comment of the page is broken where a string of the
    script does not mind. The published library evaluates text that it is given as a callback; that
    is taken out when it is fetched (`make vendor`), and the page's policy has no 'unsafe-eval'.
    """
    folder = files("pgode.reports") / "assets"
    licence = (folder / "3Dmol-LICENSE.txt").read_text(encoding="utf-8").replace("*/", "* /")
    script = (folder / "3Dmol-min.js").read_text(encoding="utf-8")
    whole = f"/*!\n{licence}\n*/\n{script}"
    return whole.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _system(molecule: MoleculeData, example: Example) -> dict[str, Any]:
    ahead = [each[None].swapaxes(1, 2) for each in _ahead(molecule, example)]
    return {
        "name": example.name,
        "condition": len(example.condition_times),
        # Counted from the last observed frame; close times of a long record differ in late digits.
        "times": short_list(np.round(example.times - example.condition_times[-1], 9), 9),
        "observed": _whole(molecule, example.observed),
        "forecast": _whole(molecule, example.forecast),
        "truth": _whole(molecule, example.truth),
        "rmsd": short_list(rmsd(ahead[0], ahead[1])[0]),
    }


def _ahead(
    molecule: MoleculeData, example: Example
) -> tuple[Float[np.ndarray, "frame atom 3"], Float[np.ndarray, "frame atom 3"]]:
    return _positions(molecule, example.forecast), _positions(molecule, example.truth)


def _positions(
    molecule: MoleculeData, states: Float[np.ndarray, "atom frame feature"]
) -> Float[np.ndarray, "frame atom 3"]:
    return states[:, :, list(molecule.axes)].swapaxes(0, 1)


def _whole(
    molecule: MoleculeData, states: Float[np.ndarray, "atom frame feature"]
) -> list[list[int] | None]:
    """Each frame as one list (x, y, z of each atom in turn); None where an atom is not known."""
    placed = _positions(molecule, states) * molecule.angstroms * PER_ANGSTROM
    return [
        np.clip(np.round(frame), -FAR, FAR).astype(np.int64).ravel().tolist()
        if np.isfinite(frame).all()
        else None
        for frame in placed
    ]
