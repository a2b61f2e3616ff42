"""Lasso peptides: the nitrogen of the first residue bonded to the side chain of an Asp or Glu.

Repair, which knows standard residues only, takes such a bond for missing atoms, adds them, and so
opens the ring. Here they are removed again and the bond is restored; the side chain gets its own
template in the force field, made from that of the corresponding amide (Asn, Gln).
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pgode.runtime.errors import InputError

SIDE_CHAINS = {
    "ASP": ("ASI", "CG", "OD2", "ASN", "ND2"),
    "GLU": ("GLI", "CD", "OE2", "GLN", "NE2"),
}
"""Residue: (name in a ring, carbon, lost oxygen, corresponding amide, nitrogen of the amide)."""


@dataclass(frozen=True)
class Ring:
    """A bond from the nitrogen of `first` to the side chain of `second` (chain, residue number)."""

    first: tuple[str, str]
    second: tuple[str, str]
    residue: str

    def __str__(self) -> str:
        return f"N of residue {self.first[1]} to {self.residue}{self.second[1]}"


def rings_of(pdb: str) -> tuple[Ring, ...]:
    """The rings listed in the LINK records of a PDB file."""
    rings = []
    for record in pdb.splitlines():
        if not record.startswith("LINK"):
            continue
        line = record.ljust(80)
        ends = [
            (line[a : a + 4].strip(), line[a + 5 : a + 8], line[a + 9], line[a + 10 : a + 14])
            for a in (12, 42)
        ]
        for one, other in (ends, ends[::-1]):
            name, residue = other[0], other[1]
            if one[0] == "N" and residue in SIDE_CHAINS and name == SIDE_CHAINS[residue][1]:
                first, second = (one[2], one[3].strip()), (other[2], other[3].strip())
                rings.append(Ring(first, second, residue))
    return tuple(rings)


def close_rings(topology: Any, positions: Any, rings: Sequence[Ring]) -> tuple[Any, Any]:
    """The topology and positions with every ring closed and its surplus atoms removed."""
    if not rings:
        return topology, positions
    from openmm.app import Modeller

    modeller = Modeller(topology, positions)
    for ring in rings:
        first, second = (_atoms(modeller.topology, *end) for end in (ring.first, ring.second))
        name, carbon, oxygen, _, _ = SIDE_CHAINS[ring.residue]
        place = np.array([list(p) for p in modeller.positions.value_in_unit_system(_md())])
        hydrogens = [atom for key, atom in first.items() if key in ("H", "H1", "H2", "H3")]
        if not hydrogens or not {carbon, oxygen} <= set(second):
            raise InputError(
                f"a LINK record joins {ring}, but that nitrogen has no hydrogen, or there is no "
                f"{carbon} or {oxygen}. Expected the first residue of a chain and an Asp or Glu. "
                f"Correct the record, or open the ring with --open-ring."
            )
        # The hydrogen farthest from the ring's carbon stays: the others are in the way of the bond.
        hydrogens.sort(key=lambda h: np.linalg.norm(place[h.index] - place[second[carbon].index]))
        hydrogens[-1].name = "H"
        surplus = [*hydrogens[:-1], second[oxygen]]
        surplus += [second[key] for key in (f"H{oxygen[1:]}",) if key in second]
        second[carbon].residue.name = name
        modeller.topology.addBond(first["N"], second[carbon])
        modeller.delete(surplus)
    return modeller.topology, modeller.positions


def ring_templates(rings: Sequence[Ring], protein_xml: Path) -> str:
    """Residue templates for closed side chains, as the text of an OpenMM force-field file.

    The nitrogen of the amide belongs to the template of the first residue; its charge and that of
    its hydrogens is added to the carbon, so that the residue stays neutral.
    """
    residues = ElementTree.Element("Residues")
    standard = {each.get("name"): each for each in ElementTree.parse(protein_xml).iter("Residue")}
    for kind in sorted({ring.residue for ring in rings}):
        name, carbon, _, amide, nitrogen = SIDE_CHAINS[kind]
        template = deepcopy(standard[amide])
        template.set("name", name)
        lost = {nitrogen, f"H{nitrogen[1:]}1", f"H{nitrogen[1:]}2"}
        charge = 0.0
        for atom in template.findall("Atom"):
            if atom.get("name") in lost:
                charge += float(atom.get("charge", 0))
                template.remove(atom)
        for bond in template.findall("Bond"):
            if lost & {bond.get("atomName1"), bond.get("atomName2")}:
                template.remove(bond)
        for atom in template.findall("Atom"):
            if atom.get("name") == carbon:
                atom.set("charge", f"{float(atom.get('charge', 0)) + charge:.6f}")
        ElementTree.SubElement(template, "ExternalBond", atomName=carbon)
        residues.append(template)
    field = ElementTree.Element("ForceField")
    field.append(residues)
    return ElementTree.tostring(field, encoding="unicode")


def _atoms(topology: Any, chain: str, number: str) -> dict[str, Any]:
    for residue in topology.residues():
        if residue.id.strip() == number and residue.chain.id == chain:
            return {atom.name: atom for atom in residue.atoms()}
    raise InputError(
        f"a LINK record names residue {number} of chain {chain}, which is not in the structure. "
        f"Expected the first residue of a chain and an Asp or Glu of it. Correct the record, or "
        f"open the ring with --open-ring."
    )


def _md() -> Any:
    from openmm import unit

    return unit.md_unit_system
