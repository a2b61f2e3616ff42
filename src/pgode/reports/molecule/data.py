"""The molecular part of a report: atoms, bonds, and deviations of forecasts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.evaluation.evaluation import NoiseFloor
from pgode.reports.molecule.atoms import Atom, chain_bonds, covalent_bonds
from pgode.reports.molecule.deviation import Deviation

ANGSTROMS = {"nm": 10.0, "pm": 0.01, "a": 1.0, "å": 1.0, "angstrom": 1.0, "angstroms": 1.0}
"""Units of length in Å. Data without a unit is assumed to be in nm, as MD programs write it."""


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
        """The data's unit of length in Å."""
        return ANGSTROMS.get(self.unit.lower(), 10.0)

    @property
    def residues(self) -> list[str]:
        """The residues in order."""
        names = {atom.group: atom.residue for atom in reversed(self.atoms)}
        return [names[group] for group in sorted(names)]

    @property
    def backbone(self) -> Int[np.ndarray, " kept"]:
        """Atoms shown in flat pictures, where all of them would hide each other.

        The C-alphas; without at least two of them, heavy atoms; without these, all atoms.
        """
        choices = (
            [atom.name == "CA" and atom.element == "C" for atom in self.atoms],
            [atom.element != "H" for atom in self.atoms],
        )
        kept = next((np.array(each) for each in choices if sum(each) > 1), None)
        return np.arange(len(self.atoms)) if kept is None else np.flatnonzero(kept)

    @property
    def backbone_name(self) -> str:
        """Name of the atoms in `backbone`."""
        kept = [self.atoms[index] for index in self.backbone]
        return "C-alphas" if all(atom.name == "CA" for atom in kept) else "heavy atoms"

    @property
    def chained(self) -> bool:
        """Whether there are C-alphas only, which are too far apart for covalent bonds."""
        return len(self.atoms) > 1 and all(atom.name == "CA" for atom in self.atoms)

    def bonds(self, positions: Float[np.ndarray, "atom 3"]) -> list[tuple[int, int]]:
        """Pairs of atoms to join, from one frame in the data's units."""
        if self.chained:
            return chain_bonds(self.atoms)
        return covalent_bonds(self.atoms, positions * self.angstroms)

    def positions(
        self, states: Float[np.ndarray, "atom frame feature"]
    ) -> Float[np.ndarray, "frame atom 3"]:
        """Positions of the atoms at each frame, in the data's units."""
        return states[:, :, list(self.axes)].swapaxes(0, 1)
