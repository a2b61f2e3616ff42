"""Sources of a structure, and its repair: missing atoms, hydrogens, closed rings."""

import io
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pgode.data.simulate.protein.peptide import RESIDUES, peptide_pdb
from pgode.data.simulate.protein.rings import Ring, close_rings, rings_of
from pgode.runtime.errors import InputError
from pgode.runtime.files import write_text
from pgode.runtime.reading import read_text

DOWNLOAD = "https://files.rcsb.org/download/{}.pdb"
LARGEST = 2**27
"""Bytes of a structure: a million atoms have 80 MB."""
PH = 7.0
STANDARD = (*RESIDUES.values(), "HOH", "UNK")
NUCLEIC = (*"ACGUIN", "DA", "DC", "DG", "DT", "DI")


@dataclass(frozen=True)
class Source:
    """The text of a PDB file, and the name the user gave."""

    name: str
    pdb: str

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return sha256(self.pdb.encode()).hexdigest()


def from_file(path: Path) -> Source:
    """A structure from a PDB file."""
    text = read_text(path, limit=LARGEST, expected="a structure in PDB format, which is text")
    return Source(path.name, _with_atoms(text, str(path)))


def from_sequence(sequence: str) -> Source:
    """An extended peptide of this sequence."""
    return Source(sequence, peptide_pdb(sequence))


def from_pdb_id(entry: str, cache: Path) -> Source:
    """An entry of the Protein Data Bank, downloaded once and kept in `cache`."""
    name = entry.strip().lower()
    if len(name) != 4 or not name.isalnum():
        raise InputError(
            f'"{entry}" is not an entry of the Protein Data Bank. Expected four letters and '
            f"digits, such as 5AWL. Correct it, or give a file with --structure."
        )
    kept = cache / f"{name}.pdb"
    if not kept.exists():
        try:
            with urllib.request.urlopen(DOWNLOAD.format(name.upper()), timeout=60) as answer:
                text = answer.read().decode("utf-8")
        except (urllib.error.URLError, OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"cannot download the entry {entry}: {error}. Expected an entry of the Protein "
                f"Data Bank and a network. Check both, or give a file with --structure."
            ) from None
        write_text(kept, _with_atoms(text, f"the entry {entry}"))
    return Source(name.upper(), kept.read_text(encoding="utf-8"))


def _with_atoms(text: str, source: str) -> str:
    if not any(line.startswith("ATOM") for line in text.splitlines()):
        raise InputError(
            f"{source} has no ATOM line. Expected a structure in PDB format with at least one "
            f"protein chain. Convert the file."
        )
    return text


@dataclass(frozen=True)
class Repaired:
    """A complete protein in OpenMM's types, its closed rings, and a list of repairs."""

    topology: Any
    positions: Any
    rings: tuple[Ring, ...]
    repairs: tuple[str, ...]


def repaired(source: Source, *, open_ring: bool) -> Repaired:
    """OpenMM's topology and positions of a complete protein.

    Missing residues at the ends are left out, those within a chain and missing atoms are added,
    non-standard residues are replaced by the nearest standard one, everything that is not protein
    is removed, and hydrogens are added for pH 7. Bonds from the nitrogen of the first residue to a
    side chain, which this would open, are closed again unless `open_ring`.
    """
    fixer_type = openmm_part("pdbfixer", "PDBFixer")
    try:
        fixer = fixer_type(pdbfile=io.StringIO(source.pdb))
        bare = _without_nucleic(fixer)
        fixer.findMissingResidues()
        _forget_ends(fixer)
        fixer.findNonstandardResidues()
        changes = _changes(fixer, bare)
        fixer.replaceNonstandardResidues()
        fixer.removeHeterogens(keepWater=False)
        fixer.findMissingAtoms()
        repairs = (*changes, *_additions(fixer))
        fixer.addMissingAtoms(seed=1)  # To OpenMM 0 is no seed: it would draw one.
        fixer.addMissingHydrogens(PH)
    except (ValueError, KeyError, IndexError, AttributeError) as error:
        raise InputError(
            f"the structure {source.name} cannot be repaired: {error}. Expected a PDB file of a "
            f"protein made of amino acids. Correct the file, or take another structure."
        ) from None
    if not fixer.topology.getNumAtoms():
        raise InputError(
            f"the structure {source.name} has no protein. Expected at least one chain of amino "
            f"acids. Take another structure."
        )
    rings = () if open_ring else rings_of(source.pdb)
    topology, positions = close_rings(fixer.topology, fixer.positions, rings)
    return Repaired(topology, positions, rings, repairs)


def _without_nucleic(fixer: Any) -> list[str]:
    """Remove DNA and RNA, which PDBFixer keeps; returns the removed residues.

    This comes first because PDBFixer counts chains when it looks for missing residues.
    """
    from openmm.app import Modeller

    nucleic = [residue for residue in fixer.topology.residues() if residue.name in NUCLEIC]
    if nucleic:
        modeller = Modeller(fixer.topology, fixer.positions)
        modeller.delete(nucleic)
        fixer.topology, fixer.positions = modeller.topology, modeller.positions
    return [f"{residue.name} {residue.id}" for residue in nucleic]


def _changes(fixer: Any, already: list[str]) -> list[str]:
    """Descriptions of what is replaced and removed, except water, which always is."""
    pairs = {residue: name for residue, name in fixer.nonstandardResidues}
    replaced = [f"{residue.name} {residue.id} by {name}" for residue, name in pairs.items()]
    removed = [
        f"{residue.name} {residue.id}"
        for residue in fixer.topology.residues()
        if residue.name not in STANDARD and residue not in pairs
    ]
    changes = {"replaced": replaced, "removed": [*already, *removed]}
    return [f"{verb} {', '.join(names)}" for verb, names in changes.items() if names]


def _additions(fixer: Any) -> list[str]:
    """Descriptions of what is added, except hydrogens, which always are."""
    residues = [name for names in fixer.missingResidues.values() for name in names]
    atoms = [
        atom for part in (fixer.missingAtoms, fixer.missingTerminals) for atom in part.values()
    ]
    count = sum(len(each) for each in atoms)
    inside = [f"added {', '.join(residues)} inside a chain"] if residues else []
    return inside + ([f"added {count} missing heavy atoms"] if count else [])


@contextmanager
def openmm_errors(what: str) -> Iterator[None]:
    """Turn a failure of OpenMM into an error that the user can act on."""
    from openmm import OpenMMException

    try:
        yield
    except OpenMMException as error:
        text = " ".join(str(error).split())
        raise InputError(
            f"OpenMM failed in {what}: {text}. Expected a structure that can be simulated: atoms "
            f"on top of each other, or chains through each other, have no finite forces. Repair "
            f"the structure, or take another."
        ) from None


def _forget_ends(fixer: Any) -> None:
    """Ignore residues missing at the ends of a chain: their positions are unknown."""
    chains = list(fixer.topology.chains())
    for chain, place in list(fixer.missingResidues):
        if place in (0, len(list(chains[chain].residues()))):
            del fixer.missingResidues[chain, place]


def openmm_part(module: str, name: str) -> Callable[..., Any]:
    """A part of an optional library, or an error that says how to install it."""
    try:
        loaded = __import__(module, fromlist=[name])
    except ImportError:
        raise InputError(
            f"simulating molecules needs {module}, which is not installed. Expected the extra "
            f'"md". Install it with pip install "pgode[md]".'
        ) from None
    part: Callable[..., Any] = getattr(loaded, name)
    return part
