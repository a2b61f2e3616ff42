"""A solvated molecule and its forces: amber14 with TIP3P water, or implicit solvent."""

import io
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pgode.data.molecules import Molecule
from pgode.data.simulate.protein.rings import Ring, ring_templates
from pgode.data.simulate.protein.settings import ProteinSettings
from pgode.data.simulate.protein.structure import Source, openmm_errors, openmm_part, repaired
from pgode.runtime.errors import InputError

PADDING = CUTOFF = 0.8
"""Water around the molecule, and cutoff of direct forces (nm)."""
LEAST_WIDTH = 2.6
"""A dodecahedron this wide (nm) is higher than twice the cutoff, even if it shrinks a little."""
HYDROGEN_MASS = 3.0
"""g/mol, taken from the bonded heavy atom: slower bonds to hydrogen allow steps of 4 fs."""
SOLVENT = ("HOH", "NA", "CL")


@dataclass(frozen=True)
class Solvated:
    """The input of a simulation: OpenMM's system as XML, all positions, and the molecule."""

    system: str
    positions: np.ndarray
    """All atoms (nm), including the solvent."""
    box: np.ndarray | None
    molecule: Molecule
    rings: tuple[Ring, ...]
    repairs: tuple[str, ...] = ()

    @property
    def atoms(self) -> int:
        """Number of atoms of the molecule; they come first."""
        return len(self.molecule.mass)


def solvate(source: Source, settings: ProteinSettings) -> Solvated:
    """Repair, solvate and parameterise a structure."""
    openmm_part("openmm", "System")
    with _repeatable(settings.seed), openmm_errors(f"solvating {source.name}"):
        return _solvate(source, settings)


def _solvate(source: Source, settings: ProteinSettings) -> Solvated:
    from openmm import XmlSerializer, app, unit

    protein = repaired(source, open_ring=settings.open_ring)
    field = _force_field(protein.rings, implicit=settings.implicit)
    modeller = app.Modeller(protein.topology, protein.positions)
    common = {"constraints": app.HBonds, "hydrogenMass": HYDROGEN_MASS * unit.dalton}
    try:
        if settings.implicit:
            system = field.createSystem(modeller.topology, nonbondedMethod=app.NoCutoff, **common)
        else:
            modeller.addSolvent(
                field,
                padding=_padding(modeller) * unit.nanometer,
                boxShape="dodecahedron",
                neutralize=True,
            )
            system = field.createSystem(
                modeller.topology,
                nonbondedMethod=app.PME,
                nonbondedCutoff=CUTOFF * unit.nanometer,
                **common,
            )
    except ValueError as error:
        raise _no_template(error, source.name) from None
    vectors = modeller.topology.getPeriodicBoxVectors()
    box = None if settings.implicit else np.array(vectors.value_in_unit(unit.nanometer))
    place = np.array(modeller.positions.value_in_unit(unit.nanometer))
    return Solvated(
        XmlSerializer.serialize(system),
        place,
        box,
        _molecule(modeller.topology, place),
        protein.rings,
        protein.repairs,
    )


@contextmanager
def _repeatable(seed: int) -> Iterator[None]:
    """Make OpenMM deterministic: fixed seed of Python's random module, fixed order of sums."""
    from openmm import Platform

    platform, before = Platform.getPlatformByName("CPU"), random.getstate()
    fixed = {"Threads": "1", "DeterministicForces": "true"}
    old = {name: platform.getPropertyDefaultValue(name) for name in fixed}
    try:
        for name, value in fixed.items():
            platform.setPropertyDefaultValue(name, value)
        random.seed(seed)
        yield
    finally:
        random.setstate(before)
        for name, value in old.items():
            platform.setPropertyDefaultValue(name, value)


def _padding(modeller: Any) -> float:
    """The usual padding, or more where the box of a small molecule must fit the cutoff."""
    from openmm import unit

    place = np.array(modeller.positions.value_in_unit(unit.nanometer))
    middle = (place.min(0) + place.max(0)) / 2
    width = 2 * float(np.linalg.norm(place - middle, axis=1).max()) + PADDING
    return PADDING if width >= LEAST_WIDTH else LEAST_WIDTH / 2


def _force_field(rings: Sequence[Ring], *, implicit: bool) -> Any:
    from openmm import app

    files = ["amber14-all.xml", "implicit/obc2.xml" if implicit else "amber14/tip3p.xml"]
    field = app.ForceField(*files)
    if rings:
        protein = Path(app.__file__).parent / "data" / "amber14" / "protein.ff14SB.xml"
        field.loadFile(io.StringIO(ring_templates(rings, protein)))
    return field


def _no_template(error: ValueError, name: str) -> InputError:
    """The error for a residue without parameters, which OpenMM names, and the fix."""
    text = " ".join(str(error).split())
    match = re.search(r"residue (\d+) \((\w+)\)", text)
    which = f"its residue {match[1]} ({match[2]})" if match else "a residue"
    return InputError(
        f"the structure {name} cannot be simulated: the force field amber14 has no parameters for "
        f"{which}. {text.split('.')[0]}. Expected the 20 amino acids, or a ring closed by a LINK "
        f"record from the first nitrogen to Asp or Glu. Replace or remove the residue in the file."
    )


def _molecule(topology: Any, positions: np.ndarray) -> Molecule:
    """Everything but the solvent, with the PDB text of its atoms."""
    from openmm import app, unit

    kept = [atom for atom in topology.atoms() if atom.residue.name not in SOLVENT]
    if [atom.index for atom in kept] != list(range(len(kept))):
        raise InputError(
            "the atoms of the molecule do not come before its solvent. Expected a structure "
            "without ions or water. Remove them from the file."
        )
    solute = app.Topology()
    atoms: dict[Any, Any] = {}
    chains: dict[Any, Any] = {}
    residues: dict[Any, Any] = {}
    for atom in kept:
        residue, chain = atom.residue, atom.residue.chain
        if chain not in chains:
            chains[chain] = solute.addChain(chain.id)
        if residue not in residues:
            residues[residue] = solute.addResidue(residue.name, chains[chain], residue.id)
        atoms[atom] = solute.addAtom(atom.name, atom.element, residues[residue])
    for bond in topology.bonds():
        if bond[0] in atoms and bond[1] in atoms:
            solute.addBond(atoms[bond[0]], atoms[bond[1]])
    text = io.StringIO()
    app.PDBFile.writeFile(solute, positions[: len(kept)] * unit.nanometer, text, keepIds=True)
    order = {residue: number for number, residue in enumerate(residues)}
    return Molecule(
        # The first line has the date, but the same molecule must have the same text.
        pdb=re.sub(r"^REMARK.*\n", "", text.getvalue()),
        mass=np.array([atom.element.mass.value_in_unit(unit.dalton) for atom in kept]),
        residue=np.array([order[atom.residue] for atom in kept], dtype=np.int32),
        hydrogen=np.array([atom.element.symbol == "H" for atom in kept]),
        alpha=np.array([atom.name == "CA" for atom in kept]),
    )
