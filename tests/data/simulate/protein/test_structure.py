"""Structures: peptides from their sequence, repair, closed rings, and what cannot be simulated."""

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from openmm import app, unit

from pgode.data.simulate.protein import (
    ProteinSettings,
    Source,
    from_file,
    from_pdb_id,
    from_sequence,
)
from pgode.data.simulate.protein.forces import solvate
from pgode.data.simulate.protein.peptide import peptide_pdb
from pgode.data.simulate.protein.rings import ring_templates, rings_of
from pgode.data.simulate.protein.sampler import Sampler
from pgode.data.simulate.protein.structure import repaired
from pgode.runtime.errors import InputError

LINK = "LINK         N   GLY A   1                 CG  ASP A   5     1555   1555  1.33  \n"


def bare(source: Source, **options) -> ProteinSettings:
    return ProteinSettings(source.name, source.hash, implicit=True, **options)


def angle(a, b, c) -> float:
    one, other = a - b, c - b
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    return float(np.degrees(np.arccos(cosine)))


def test_a_peptide_has_the_bonds_and_angles_of_proteins():
    pdb = app.PDBFile(io.StringIO(peptide_pdb("GAPW")))
    place = np.array(pdb.positions.value_in_unit(unit.angstrom))
    residues = [{a.name: place[a.index] for a in r.atoms()} for r in pdb.topology.residues()]
    assert [r.name for r in pdb.topology.residues()] == ["GLY", "ALA", "PRO", "TRP"]
    for here in residues:
        assert np.linalg.norm(here["CA"] - here["N"]) == pytest.approx(1.458, abs=2e-3)
        assert np.linalg.norm(here["C"] - here["CA"]) == pytest.approx(1.525, abs=2e-3)
        assert np.linalg.norm(here["O"] - here["C"]) == pytest.approx(1.231, abs=2e-3)
        assert angle(here["N"], here["CA"], here["C"]) == pytest.approx(111, abs=0.2)
    for here, after in pairwise(residues):
        assert np.linalg.norm(after["N"] - here["C"]) == pytest.approx(1.329, abs=2e-3)
        assert angle(here["CA"], here["C"], after["N"]) == pytest.approx(116.6, abs=0.2)
        assert angle(here["O"], here["C"], after["N"]) == pytest.approx(122.9, abs=0.2)
        # A flat, stretched peptide bond: the C-alphas are 3.8 A apart.
        assert np.linalg.norm(after["CA"] - here["CA"]) == pytest.approx(3.8, abs=0.03)


def test_a_peptide_is_left_handed_amino_acids_after_repair():
    whole = repaired(from_sequence("GAY"), open_ring=False)
    place = np.array(whole.positions.value_in_unit(unit.nanometer))
    for residue in list(whole.topology.residues())[1:]:
        at = {atom.name: place[atom.index] for atom in residue.atoms()}
        handed = np.linalg.det([at[name] - at["CA"] for name in ("N", "C", "CB")])
        assert handed > 0


@pytest.mark.parametrize(
    "sequence, message",
    [("GAXG", '"X" at position 3.*one-letter'), ("G", "has 1 residues.*at least 2"), ("", "has 0")],
)
def test_what_is_no_sequence_is_refused(sequence, message):
    with pytest.raises(InputError, match=message):
        from_sequence(sequence)


def test_missing_atoms_and_hydrogens_are_added_and_everything_else_removed():
    water = "HETATM  900  O   HOH A 900       9.000   9.000   9.000  1.00  0.00           O  \n"
    source = Source("with water", peptide_pdb("GAY").replace("TER\n", f"TER\n{water}"))
    molecule = solvate(source, bare(source)).molecule
    assert len(molecule.mass) == 41 and molecule.residue.max() == 2
    assert "HOH" not in molecule.pdb
    assert molecule.alpha.sum() == 3 and molecule.hydrogen.sum() == 19
    assert molecule.mass.sum() == pytest.approx(309.3, abs=0.2)  # Gly-Ala-Tyr


def test_what_was_mended_is_said():
    zinc = "HETATM  900 ZN    ZN A 900       9.000   9.000   9.000  1.00  0.00          ZN  \n"
    text = peptide_pdb("GAG").replace("ALA", "SEP").replace("TER\n", f"TER\n{zinc}")
    words = repaired(Source("mended", text), open_ring=False).repairs
    assert words == ("replaced SEP 2 by SER", "removed ZN 900", "added 3 missing heavy atoms")
    assert repaired(from_sequence("GG"), open_ring=False).repairs == (
        "added 1 missing heavy atoms",
    )


def test_nucleic_acids_are_removed_and_said_to_be():
    sugar = "ATOM     {}  {}  DA B   1    {:8.3f}   9.000   9.000  1.00  0.00           C  \n"
    chain = "".join(sugar.format(90 + k, f"C{k}'", 9 + 1.5 * k) for k in (1, 2, 3))
    text = f"{chain}TER\n" + peptide_pdb("GAY")
    found = repaired(Source("with DNA", text), open_ring=False)
    assert "removed DA 1" in found.repairs
    assert [residue.name for residue in found.topology.residues()] == ["GLY", "ALA", "TYR"]


def test_atoms_on_top_of_each_other_are_an_error_in_words():
    chain = peptide_pdb("GG").replace("TER\nEND\n", "TER\n")
    again = "\n".join(x for x in chain.splitlines() if x.startswith("ATOM")).replace(" A ", " B ")
    source = Source("overlapping", f"{chain}{again}\nTER\nEND\n")
    settings = bare(source, equilibrate=0.4)
    with pytest.raises(InputError, match=r"OpenMM failed|cannot be repaired"):
        Sampler(solvate(source, settings), settings).equilibrated()


def test_atoms_added_where_another_is_in_the_way_are_at_the_same_places_again():
    """PDBFixer moves them apart by dynamics, with random forces."""
    whole = repaired(from_sequence("GAAADA"), open_ring=False)
    text = io.StringIO()
    app.PDBFile.writeFile(whole.topology, whole.positions, text, keepIds=True)
    lines = text.getvalue().splitlines(keepends=True)
    missing = next(line for line in lines if line[12:26] == " OD2 ASP A   5")
    first = next(line for line in lines if line[12:26] == " N   GLY A   1")
    lines[lines.index(first)] = first[:30] + missing[30:54] + first[54:]
    source = Source("crowded", "".join(line for line in lines if line != missing))
    one, again = (repaired(source, open_ring=False) for _ in range(2))
    assert one.positions == again.positions


def test_a_ring_stays_closed_unless_it_is_to_be_opened():
    source = Source("lasso", LINK + peptide_pdb("GAAADA"))
    closed = solvate(source, bare(source))
    opened = solvate(source, bare(source, open_ring=True))
    assert [str(ring) for ring in closed.rings] == ["N of residue 1 to ASP5"] and not opened.rings
    # Without OD2 and two of the three hydrogens of the first nitrogen.
    assert closed.atoms == opened.atoms - 3
    assert " ASI " in closed.molecule.pdb and " OD2 ASP" in opened.molecule.pdb
    assert "CONECT" in closed.molecule.pdb


def test_a_closed_side_chain_is_a_neutral_residue_bonded_three_ways():
    protein = Path(app.__file__).parent / "data" / "amber14" / "protein.ff14SB.xml"
    glu = LINK.replace("CG  ASP", "CD  GLU")
    field = ring_templates((*rings_of(LINK), *rings_of(glu)), protein)
    from xml.etree import ElementTree

    for residue in ElementTree.fromstring(field).iter("Residue"):
        charges = [float(atom.get("charge", "")) for atom in residue.iter("Atom")]
        assert sum(charges) == pytest.approx(0, abs=1e-5)
        outside = [bond.get("atomName") for bond in residue.iter("ExternalBond")]
        assert outside == ["N", "C", {"ASI": "CG", "GLI": "CD"}[residue.get("name", "")]]


def test_a_link_to_a_residue_that_is_not_there_is_refused():
    source = Source("broken", LINK + peptide_pdb("GAA"))
    with pytest.raises(InputError, match="names residue 5 of chain A, which is not in"):
        solvate(source, bare(source))


@pytest.mark.parametrize(
    "link, message",
    [
        ("LINK         N   GLY A   1\n", None),
        (LINK.replace("GLY A   1", "PRO A   2"), "that nitrogen has no hydrogen"),
        (LINK.replace("ASP A   5", "ASP A   3"), "there is no CG or OD2"),
    ],
)
def test_a_link_that_closes_no_ring_is_left_or_refused(link, message):
    source = Source("odd link", link + peptide_pdb("GPAAD"))
    if message is None:
        assert not repaired(source, open_ring=False).rings
        return
    with pytest.raises(InputError, match=message):
        repaired(source, open_ring=False)


def test_a_residue_without_parameters_is_named():
    source = Source("odd", peptide_pdb("GAG").replace("ALA", "UNK"))
    with pytest.raises(InputError, match=r"no parameters for its residue \d+ \(UNK\)"):
        solvate(source, bare(source))


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "there is no such file"),
        ("REMARK nothing\nEND\n", "has no ATOM line"),
        ("HETATM    1  O   HOH A   1       0.0     0.0     0.0\nEND\n", "has no ATOM line"),
    ],
)
def test_what_is_no_structure_file_is_refused(tmp_path, text, message):
    path = tmp_path / "x.pdb"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        from_file(path)


def test_binary_is_no_structure(tmp_path):
    path = tmp_path / "x.pdb"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="not UTF-8 text"):
        from_file(path)


def test_garbage_coordinates_are_refused():
    source = Source("garbage", "ATOM      1  N   GLY A   1     here    there   above\nEND\n")
    with pytest.raises(InputError, match="the structure garbage cannot be repaired"):
        repaired(source, open_ring=False)


def test_an_entry_is_taken_from_the_cache_and_a_wrong_name_refused(tmp_path):
    (tmp_path / "9xyz.pdb").write_text(peptide_pdb("GA"))
    assert from_pdb_id("9XYZ", tmp_path).name == "9XYZ"
    with pytest.raises(InputError, match="not an entry of the Protein Data Bank"):
        from_pdb_id("../etc", tmp_path)


def test_an_entry_that_cannot_be_downloaded_says_so_and_leaves_nothing(tmp_path, monkeypatch):
    from pgode.data.simulate.protein import structure

    monkeypatch.setattr(structure, "DOWNLOAD", "http://127.0.0.1:9/{}.pdb")
    with pytest.raises(InputError, match="cannot download the entry 1ABC"):
        from_pdb_id("1ABC", tmp_path / "cache")
    assert not list(tmp_path.iterdir())
