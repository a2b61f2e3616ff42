"""Atoms of a molecule from the text of a PDB file, and the bonds between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int

RADII = {"H": 0.31, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "P": 1.07, "S": 1.05, "CL": 1.02}
"""Covalent radii in Å (Cordero 2008)."""
OTHER_RADIUS = 1.2
"""For all other elements: near that of most metals."""
SLACK = 0.45
"""A bond may exceed the sum of its radii by this much (Å): the usual rule of molecular viewers."""
TWO_LETTERS = ("CL", "BR", "FE", "ZN", "MG", "NA", "MN")


@dataclass(frozen=True)
class Atom:
    """One line of a PDB file."""

    name: str
    element: str
    residue: str
    """Name and number, for instance "TYR 1", with the chain unless it is A or unnamed."""
    chain: str
    number: int
    group: int
    """Residues numbered consecutively from 0."""


def atoms_of(pdb: str, group: Int[np.ndarray, " atom"]) -> list[Atom]:
    """The atoms of a PDB text, in order; `group` numbers their residues, -1 where unknown."""
    first_model = pdb.split("\nENDMDL", 1)[0]
    lines = [line for line in first_model.splitlines() if line.startswith(("ATOM", "HETATM"))]
    residues = [line[17:27] for line in lines]
    numbers = group if (group >= 0).all() else _numbered(residues)
    return [_atom(line, int(number)) for line, number in zip(lines, numbers, strict=True)]


def chain_bonds(atoms: Sequence[Atom]) -> list[tuple[int, int]]:
    """Successive atoms of a chain, for molecules of C-alphas only."""
    return [
        (k, k + 1)
        for k, (one, following) in enumerate(pairwise(atoms))
        if one.chain == following.chain and following.number - one.number <= 1
    ]


def covalent_bonds(
    atoms: Sequence[Atom], positions: Float[np.ndarray, "atom 3"]
) -> list[tuple[int, int]]:
    """Pairs of atoms whose radii touch, from positions in Å; a hydrogen with its nearest only."""
    radius = np.array([RADII.get(atom.element, OTHER_RADIUS) for atom in atoms])
    hydrogen = np.array([atom.element == "H" for atom in atoms])
    nearest = np.full(len(atoms), -1)
    pairs: list[tuple[int, int]] = []
    for k in range(len(atoms)):
        distance = np.linalg.norm(positions - positions[k], axis=1)
        near = (distance < radius + radius[k] + SLACK) & (np.arange(len(atoms)) != k)
        near &= ~(hydrogen & hydrogen[k])
        if hydrogen[k] and near.any():
            nearest[k] = int(np.argmin(np.where(near, distance, np.inf)))
        pairs += [(k, int(other)) for other in np.flatnonzero(near) if other > k]
    return [
        (one, other)
        for one, other in pairs
        if (not hydrogen[one] or nearest[one] == other)
        and (not hydrogen[other] or nearest[other] == one)
    ]


def _numbered(keys: Sequence[str]) -> Int[np.ndarray, " atom"]:
    """Stretches of equal keys, numbered from 0."""
    new = [before != after for before, after in pairwise(keys)]
    return np.concatenate([[0], np.cumsum(new)]).astype(np.int64)[: len(keys)]


def _atom(line: str, group: int) -> Atom:
    name, chain = line[12:16].strip(), line[21:22].strip()
    label = f"{line[17:20].strip()} {line[22:27].strip()}"
    digits = line[22:26].strip()
    return Atom(
        name=name,
        element=(line[76:78].strip() or _element(line[12:16])).upper(),
        residue=f"{label} {chain}".strip() if chain not in ("", "A") else label,
        chain=chain,
        number=int(digits) if digits.lstrip("-").isdigit() else group,
        group=group,
    )


def _element(field_text: str) -> str:
    """The element from an atom's name, whose first two columns hold the symbol.

    Names of four letters fill the field; a hydrogen's H is then in the first column.
    """
    symbol = field_text[:2].strip().lstrip("0123456789")
    if len(symbol) == 2 and symbol.upper() not in TWO_LETTERS:
        return symbol[0]
    return symbol or field_text.strip().lstrip("0123456789")[:1]
