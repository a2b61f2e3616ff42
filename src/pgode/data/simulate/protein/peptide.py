"""A peptide from its sequence: the backbone of an extended chain, atom by atom.

Side chains and hydrogens are added when the structure is repaired, as for every structure.
"""

import numpy as np
from jaxtyping import Float

from pgode.runtime.errors import InputError

RESIDUES = {
    **{"A": "ALA", "R": "ARG", "N": "ASN", "D": "ASP", "C": "CYS", "Q": "GLN", "E": "GLU"},
    **{"G": "GLY", "H": "HIS", "I": "ILE", "L": "LEU", "K": "LYS", "M": "MET", "F": "PHE"},
    **{"P": "PRO", "S": "SER", "T": "THR", "W": "TRP", "Y": "TYR", "V": "VAL"},
}

# Engh and Huber's averages over crystal structures, in angstroms and degrees.
N_CA, CA_C, C_N, C_O = 1.458, 1.525, 1.329, 1.231
N_CA_C, CA_C_N, C_N_CA, CA_C_O = 111.0, 116.6, 121.7, 120.5
PHI, PSI, OMEGA = -120.0, 130.0, 180.0
"""Torsions of an extended chain, in which no side chains touch; proline has another phi."""
PROLINE_PHI = -65.0


def peptide_pdb(sequence: str) -> str:
    """The text of a PDB file with the backbone of a peptide in one-letter code."""
    letters = "".join(sequence.split()).upper()
    for place, letter in enumerate(letters):
        if letter not in RESIDUES:
            raise InputError(
                f'the sequence {sequence} has "{letter}" at position {place + 1}. Expected the '
                f"one-letter codes of the 20 amino acids: {', '.join(RESIDUES)}. Correct it, or "
                f"give a structure file."
            )
    if len(letters) < 2:
        raise InputError(
            f'the sequence "{sequence}" has {len(letters)} residues. Expected at least 2. '
            f"Give a longer one."
        )
    lines: list[str] = []
    for residue, atoms in enumerate(_backbone(letters)):
        for name, atom in atoms.items():
            x, y, z = atom.tolist()
            lines.append(
                f"ATOM  {len(lines) + 1:5d}  {name:<3s} {RESIDUES[letters[residue]]} A"
                f"{residue + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00          {name[0]:>2s}"
            )
    names = [RESIDUES[letter] for letter in letters]
    rows = [names[k : k + 13] for k in range(0, len(names), 13)]
    header = [
        f"SEQRES {number:3d} A {len(names):4d}  {' '.join(row)}"
        for number, row in enumerate(rows, 1)
    ]
    return "\n".join([*header, *lines, "TER", "END", ""])


def _backbone(letters: str) -> list[dict[str, Float[np.ndarray, " 3"]]]:
    """N, CA, C and O of each residue."""
    n, ca = np.zeros(3), np.array([N_CA, 0.0, 0.0])
    c = ca + CA_C * np.array([-np.cos(np.radians(N_CA_C)), np.sin(np.radians(N_CA_C)), 0.0])
    residues = []
    for place, _ in enumerate(letters):
        residues.append({"N": n, "CA": ca, "C": c, "O": placed(n, ca, c, C_O, CA_C_O, PSI + 180)})
        following = letters[place + 1 : place + 2]
        phi = PROLINE_PHI if following == "P" else PHI
        after = placed(n, ca, c, C_N, CA_C_N, PSI)
        next_ca = placed(ca, c, after, N_CA, C_N_CA, OMEGA)
        n, ca, c = after, next_ca, placed(c, after, next_ca, CA_C, N_CA_C, phi)
    return residues


def placed(
    a: Float[np.ndarray, " 3"],
    b: Float[np.ndarray, " 3"],
    c: Float[np.ndarray, " 3"],
    length: float,
    angle: float,
    torsion: float,
) -> Float[np.ndarray, " 3"]:
    """The atom at `length` from c, with this angle b-c-x and this torsion a-b-c-x (degrees)."""
    along = (c - b) / np.linalg.norm(c - b)
    normal = np.cross(b - a, along)
    normal /= np.linalg.norm(normal)
    bend, twist = np.radians([angle, torsion])
    inward = np.cross(normal, along)
    step = -np.cos(bend) * along + np.sin(bend) * (np.cos(twist) * inward + np.sin(twist) * normal)
    return np.asarray(c + length * step)
