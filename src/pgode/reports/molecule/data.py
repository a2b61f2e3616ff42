"""What a report knows of a molecule: its atoms, their bonds, and how far its forecasts are off."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.superposition import superposed
from pgode.reports.base.numbers import finite
from pgode.runtime.errors import InputError

Positions = Float[np.ndarray, "system atom frame 3"]

RADII = {"H": 0.31, "C": 0.76, "N": 0.71, "O": 0.66, "F": 0.57, "P": 1.07, "S": 1.05, "CL": 1.02}
"""Covalent radii in Å (Cordero 2008); other elements count 1.2, near that of most metals."""
SLACK = 0.45
"""A bond may be this much (Å) longer than its radii: the usual rule of molecular viewers."""
ANGSTROMS = {"nm": 10.0, "pm": 0.01, "a": 1.0, "å": 1.0, "angstrom": 1.0, "angstroms": 1.0}
"""Å in units of length. Data that name none are taken to be in nm, as simulations write them."""


@dataclass(frozen=True)
class Atom:
    """One line of a PDB file."""

    name: str
    element: str
    residue: str
    """Name and number, for instance "TYR 1", with the chain where it has a letter."""
    chain: str
    number: int
    group: int
    """Residues numbered through from 0."""


@dataclass(frozen=True)
class NoiseFloor:
    """How far repeated simulations from one start part: what no forecast can beat."""

    rmsd: Mapping[str, Float[np.ndarray, " horizon"]]
    """By split."""
    replicas: int = 0

    @classmethod
    def read(cls, path: Path) -> "NoiseFloor | None":
        """The floor that `pgode evaluate --replicas` left, if it did."""
        if not path.exists():
            return None
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            rmsd = {
                str(split): np.array([finite(value) for value in values], dtype=np.float64)
                for split, values in content["rmsd"].items()
            }
            return cls(rmsd, int(content.get("replicas", 0)))
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(
                f"cannot read the noise floor {path}: {type(error).__name__}, {error}. Expected "
                f'{{"rmsd": {{"test": [one number per forecast frame]}}, "replicas": number}}. '
                f"Make it again with pgode evaluate --replicas, or remove it."
            ) from None


@dataclass(frozen=True)
class Deviation:
    """How far forecasts of one split are off once they are superposed on the truth."""

    split: str
    times: Float[np.ndarray, " horizon"]
    """Since the last observed frame."""
    rmsd: Mapping[str, Float[np.ndarray, " horizon"]]
    """Mean over systems, for the model and for naive ones, by name; the model comes first."""
    residues: Float[np.ndarray, " residue"]
    """Root of the model's mean squared error over the atoms of a residue, frames and systems."""


@dataclass(frozen=True)
class MoleculeData:
    """The molecular part of a report. `axes` are the features that are its x, y and z."""

    atoms: Sequence[Atom]
    axes: tuple[int, int, int]
    unit: str
    deviations: Sequence[Deviation] = ()
    noise_floor: NoiseFloor | None = None

    @property
    def angstroms(self) -> float:
        """How many Å the data's unit of length is."""
        return ANGSTROMS.get(self.unit.lower(), 10.0)

    @property
    def residues(self) -> list[str]:
        """The residues in order."""
        found = {atom.group: atom.residue for atom in reversed(self.atoms)}
        return [found[group] for group in sorted(found)]

    @property
    def backbone(self) -> Int[np.ndarray, " kept"]:
        """Atoms that stand for the molecule where all would be a blot.

        Its C-alphas; without at least two of them, whatever is no hydrogen; else all.
        """
        choices = (
            [atom.name == "CA" and atom.element == "C" for atom in self.atoms],
            [atom.element != "H" for atom in self.atoms],
        )
        kept = next((np.array(each) for each in choices if sum(each) > 1), None)
        return np.arange(len(self.atoms)) if kept is None else np.flatnonzero(kept)

    @property
    def backbone_words(self) -> str:
        """What kind of atoms those are."""
        kept = [self.atoms[index] for index in self.backbone]
        return "C-alphas" if all(atom.name == "CA" for atom in kept) else "atoms but hydrogen"

    @property
    def chained(self) -> bool:
        """Whether there are C-alphas only, too far apart for bonds."""
        return len(self.atoms) > 1 and all(atom.name == "CA" for atom in self.atoms)

    def bonds(self, positions: Float[np.ndarray, "atom 3"]) -> list[tuple[int, int]]:
        """Pairs of atoms to join, from one frame in the data's units.

        Atoms whose radii touch; a hydrogen with its nearest only. Successive C-alphas of a chain
        where there is nothing else.
        """
        if self.chained:
            return [
                (k, k + 1)
                for k, (one, next_one) in enumerate(pairwise(self.atoms))
                if one.chain == next_one.chain and next_one.number - one.number <= 1
            ]
        placed = positions * self.angstroms
        radius = np.array([RADII.get(atom.element, 1.2) for atom in self.atoms])
        hydrogen = np.array([atom.element == "H" for atom in self.atoms])
        nearest = np.full(len(placed), -1)
        found: list[tuple[int, int]] = []
        for k in range(len(placed)):
            gap = np.linalg.norm(placed - placed[k], axis=1)
            near = (gap < radius + radius[k] + SLACK) & (np.arange(len(placed)) != k)
            near &= ~(hydrogen & hydrogen[k])
            if hydrogen[k] and near.any():
                nearest[k] = int(np.argmin(np.where(near, gap, np.inf)))
            found += [(k, int(other)) for other in np.flatnonzero(near) if other > k]
        return [
            (one, other)
            for one, other in found
            if (not hydrogen[one] or nearest[one] == other)
            and (not hydrogen[other] or nearest[other] == one)
        ]


def atoms_of(pdb: str, group: Int[np.ndarray, " atom"]) -> list[Atom]:
    """The atoms of a PDB text, in order; `group` numbers their residues, -1 where unknown."""
    first_model = pdb.split("\nENDMDL", 1)[0]
    lines = [line for line in first_model.splitlines() if line.startswith(("ATOM", "HETATM"))]
    keys = [line[17:27] for line in lines]
    numbers = group if (group >= 0).all() else _runs(keys)
    return [_atom(line, int(number)) for line, number in zip(lines, numbers, strict=True)]


def rmsd(forecast: Positions, truth: Positions) -> Float[np.ndarray, "system frame"]:
    """Root-mean-square distance of the atoms at each frame, after superposition on the truth."""
    squared = _squared_distances(forecast, truth)
    return np.asarray(np.sqrt(squared.mean(1)))


def deviation(
    split: str,
    times: Float[np.ndarray, " horizon"],
    forecasts: Mapping[str, Positions],
    truth: Positions,
    group: Int[np.ndarray, " atom"],
) -> Deviation:
    """The deviation of each forecast by name, the model's first; NaN where nothing is known."""
    squared = {name: _squared_distances(each, truth) for name, each in forecasts.items()}
    by_frame = {name: _mean(np.sqrt(each.mean(1)), 0) for name, each in squared.items()}
    by_atom = _mean(next(iter(squared.values())), (0, 2))
    residues = np.array([_mean(by_atom[group == one], 0) for one in np.unique(group)])
    return Deviation(split, times, by_frame, np.sqrt(residues))


def _squared_distances(
    forecast: Positions, truth: Positions
) -> Float[np.ndarray, "system atom frame"]:
    """Squared distances of atoms, each frame laid on its truth; NaN in frames not wholly known."""
    ours, theirs = forecast.swapaxes(1, 2), truth.swapaxes(1, 2)
    known: Bool[np.ndarray, "system frame"] = (np.isfinite(ours) & np.isfinite(theirs)).all((2, 3))
    squared = np.full(ours.shape[:3], np.nan)
    # Each frame counts as a system of its own, since each has a truth of its own to lie on.
    target = theirs[known][:, None]
    laid = superposed(ours[known][:, None], target)
    squared[known] = ((laid - target) ** 2).sum(-1)[:, 0]
    return squared.swapaxes(1, 2)


def _mean(values: Float[np.ndarray, "..."], axis: int | tuple[int, ...]) -> np.ndarray:
    """The mean of what is known; NaN, without a warning, where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis)
    total = np.where(known, values, 0.0).sum(axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _runs(keys: Sequence[str]) -> Int[np.ndarray, " atom"]:
    """Number stretches of equal keys through from 0."""
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
    """The element that an atom's name begins with: its first two columns hold the symbol.

    Four letters fill the field, and then a hydrogen's H moves into the first column.
    """
    symbol = field_text[:2].strip().lstrip("0123456789")
    if len(symbol) == 2 and symbol.upper() not in ("CL", "BR", "FE", "ZN", "MG", "NA", "MN"):
        return symbol[0]
    return symbol or field_text.strip().lstrip("0123456789")[:1]
