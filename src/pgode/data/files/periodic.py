"""Undoing periodic boundaries: molecules are made whole, and their paths continuous."""

from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int

ANCHOR = 0.1
"""Fragments with at least this share of the atoms of the largest are put next to each other."""
LONGEST = 0.6
"""Residues farther apart than this (nm) are not bonded, whatever the file says: beads of coarse
models are closer, and some formats store all chains of a complex as one."""


def without_jumps(frames: Any) -> tuple[Float[np.ndarray, "time atom 3"], bool]:
    """Positions (nm) without jumps, and whether the frames had a box.

    In every frame, bonded atoms are put next to each other; in the first, so are fragments (the
    chains of a complex); from then on each fragment takes the shortest displacement. The
    last step adds up displacements instead of counting crossings, since in a box of fluctuating
    size fragments that have crossed it would otherwise jitter.
    """
    box = frames.unitcell_vectors
    if box is None or not (np.abs(np.linalg.det(box)) > 0).all():
        return np.asarray(frames.xyz, dtype=np.float64), False
    bonds, fragment = _fragments(frames[0])
    if len(bonds):
        frames.make_molecules_whole(inplace=True, sorted_bonds=bonds)
    first = _join_fragments(frames[0], fragment)
    positions = np.asarray(frames.xyz, dtype=np.float64)
    box = np.asarray(box, dtype=np.float64)

    size = np.bincount(fragment)
    sums = np.zeros((len(size), *positions.shape[::2]))
    np.add.at(sums, fragment, positions.swapaxes(0, 1))
    centres = sums / size[:, None, None]
    steps = np.diff(centres, axis=1)
    turns = np.round(np.einsum("ftx,txy->fty", steps, np.linalg.inv(box[1:])))
    steps -= np.einsum("ftx,txy->fty", turns, box[1:])
    start = np.zeros((len(size), 1, 3))
    np.add.at(start[:, 0], fragment, first)
    path = np.cumsum(np.concatenate([start / size[:, None, None], steps], 1), 1)
    return positions + (path - centres)[fragment].swapaxes(0, 1), True


def _fragments(frame: Any) -> tuple[Int[np.ndarray, "bond 2"], Int[np.ndarray, " atom"]]:
    """Bonds, ordered so that the first atom of each is already placed, and each atom's fragment.

    Files often lack bonds: of residues unknown to mdtraj, or all of them where only C-alphas were
    kept. Neighbours in a residue or along a chain then count as bonded. Others have a bond
    from one chain of a complex to the next, because their format has no chains.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    atoms = list(frame.topology.atoms)
    count = len(atoms)

    def graph(pairs: list[tuple[int, int]], nodes: int) -> Any:
        links = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return coo_matrix((np.ones(len(links)), links.T), shape=(nodes, nodes)).tocsr()

    bonds = _near(frame, [(one.index, other.index) for one, other in frame.topology.bonds])
    bonded = connected_components(graph(bonds, count), directed=False)[1]
    unbonded = [
        (before.index, atom.index)
        for before, atom in pairwise(atoms)
        if bonded[before.index] != bonded[atom.index] and _neighbours(before.residue, atom.residue)
    ]
    bonds += _near(frame, unbonded)
    fragment = connected_components(graph(bonds, count), directed=False)[1]

    # One walk over all atoms: it starts at an extra node, joined to one atom of each fragment.
    roots = np.unique(fragment, return_index=True)[1]
    tree = graph(bonds + [(count, int(root)) for root in roots], count + 1)
    order, before = breadth_first_order(tree, count, directed=False)
    inside = order[1:][before[order[1:]] != count]
    return np.stack([before[inside], inside], 1).astype(np.int32), fragment


def _near(frame: Any, pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs within one residue, and those of two residues whose nearest images are close."""
    from mdtraj import compute_distances

    if not pairs:
        return []
    residue = np.array([atom.residue.index for atom in frame.topology.atoms])
    links = np.array(pairs)
    near = compute_distances(frame, links, periodic=True)[0] <= LONGEST
    kept = near | (residue[links[:, 0]] == residue[links[:, 1]])
    return [pair for pair, keep in zip(pairs, kept, strict=True) if keep]


def _neighbours(one: Any, other: Any) -> bool:
    if one is other:
        return True
    polymers = (one.is_protein and other.is_protein) or (one.is_nucleic and other.is_nucleic)
    return bool(polymers and one.chain is other.chain)


def _join_fragments(frame: Any, fragment: Int[np.ndarray, " atom"]) -> Float[np.ndarray, "atom 3"]:
    """The first frame with its large fragments next to each other."""
    size = np.bincount(fragment)
    if len(size) > 1:
        atoms = np.array(list(frame.topology.atoms), dtype=object)
        parts = [set(atoms[fragment == k]) for k in range(len(size))]
        least = ANCHOR * size.max()
        frame = frame.image_molecules(
            anchor_molecules=[part for part in parts if len(part) >= least],
            other_molecules=[part for part in parts if len(part) < least],
            make_whole=False,
        )
    return np.asarray(frame.xyz[0], dtype=np.float64)
