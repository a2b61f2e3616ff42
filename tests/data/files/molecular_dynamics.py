"""A small simulation to read: three alanines in water, in files of many formats."""

from pathlib import Path

import mdtraj
import numpy as np
from mdtraj.core import element

ALANINE = (
    *(("N", "N", 0.0), ("H", "H", 0.1), ("CA", "C", 0.15), ("HA", "H", 0.24), ("CB", "C", 0.2)),
    *(("HB1", "H", 0.3), ("HB2", "H", 0.29), ("HB3", "H", 0.28), ("C", "C", 0.3), ("O", "O", 0.35)),
)
WATER = (("O", "O", 0.0), ("H1", "H", 0.1), ("H2", "H", 0.09))
PEPTIDE, WATERS = 3 * len(ALANINE), 4
BOX = 2.5
STEP = 0.2


def topology() -> mdtraj.Topology:
    atoms = mdtraj.Topology()
    for residue, parts, count, start in (("ALA", ALANINE, 3, 5), ("HOH", WATER, WATERS, 1)):
        chain = atoms.add_chain()
        for k in range(count):
            here = atoms.add_residue(residue, chain, start + k)
            for name, symbol, _ in parts:
                atoms.add_atom(name, element.get_by_symbol(symbol), here)
    atoms.create_standard_bonds()
    return atoms


def motion(frames: int, seed: int = 0) -> np.ndarray:
    """Positions (time, atom, 3) in nm that drift and shake; whole, so they leave the box."""
    stream = np.random.default_rng(seed)
    along = np.concatenate(
        [[k * 0.38 + x for _, _, x in ALANINE] for k in range(3)]
        + [[k * 0.4 + x for _, _, x in WATER] for k in range(WATERS)]
    )
    start = np.stack([along, *stream.normal(0, 0.06, (2, len(along)))], 1) + 0.5
    drift = np.arange(frames)[:, None, None] * np.array([0.11, -0.07, 0.05])
    return start + drift + stream.normal(0, 0.01, (frames, len(along), 3))


def simulation(frames: int, *, boxed: bool = True, wrapped: bool = False, seed: int = 0):
    positions = motion(frames, seed)
    if wrapped:
        positions = positions % BOX
    sides = np.full((frames, 3), BOX) if boxed else None
    return mdtraj.Trajectory(
        positions.astype(np.float32),
        topology(),
        time=np.arange(frames) * STEP,
        unitcell_lengths=sides,
        unitcell_angles=np.full((frames, 3), 90.0) if boxed else None,
    )


def save(folder: Path, name: str, frames: int = 40, **options) -> Path:
    """A trajectory file, with `top.pdb` next to it."""
    made = simulation(frames, **options)
    made[0].save(str(folder / "top.pdb"))
    made.save(str(folder / name))
    return folder / name
