"""From the atoms of a molecule to trajectories: choice of atoms, alignment, graph."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.neighbours import distance_edges
from pgode.data.superposition import superposed
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import abridged, is_int, one_of
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES, LARGE, SMALL
from pgode.runtime.memory import refuse_beyond_memory

Atoms = Literal["all", "heavy", "ca"]
Alignment = Literal["superposed", "centred", "raw"]
FEATURES = ("qx", "qy", "qz")
PER_VALUE = 30.0
"""Bytes at the peak for each coordinate, from the frames of a simulation to trajectories."""


@dataclass(frozen=True, eq=False)
class Molecule:
    """The atoms of a molecule, in order: the text of their PDB file, and properties of each."""

    pdb: str
    mass: Float[np.ndarray, " atom"]
    residue: Int[np.ndarray, " atom"]
    """Index of the residue of each atom, from 0."""
    hydrogen: Bool[np.ndarray, " atom"]
    alpha: Bool[np.ndarray, " atom"]
    """Whether the atom is the C-alpha of its residue."""

    def chosen(self, atoms: Atoms) -> Bool[np.ndarray, " atom"]:
        """Mask of the chosen atoms."""
        kept = {"all": np.ones(len(self.mass), bool), "heavy": ~self.hydrogen, "ca": self.alpha}
        if not kept[atoms].any():
            raise InputError(
                f'the molecule has none of the atoms that "{atoms}" keeps. Expected at least one '
                f"of its {len(self.mass)} atoms. Choose another of {', '.join(get_args(Atoms))}."
            )
        return kept[atoms]

    def only(self, kept: Bool[np.ndarray, " atom"]) -> "Molecule":
        """The molecule with some of its atoms only; bonds listed in its PDB file are dropped."""
        if kept.all():
            return self
        lines, atom = [], -1
        for line in self.pdb.splitlines():
            if line.startswith(("ATOM", "HETATM")):
                atom += 1
                if kept[atom]:
                    lines.append(line)
            elif not line.startswith(("CONECT", "TER", "ANISOU", "SIGATM")):
                lines.append(line)
        parts = (self.mass, self.residue, self.hydrogen, self.alpha)
        return Molecule("\n".join(lines) + "\n", *(part[kept] for part in parts))


@dataclass(frozen=True)
class Preparation:
    """Choices by which simulated frames become data; recorded in the attributes of the file.

    `superposed`: each frame is turned and shifted onto the first of its trajectory, by least
    squares over the kept atoms. `centred`: the centre of mass of each frame is at the origin.
    `raw`: only that of the first frame is; the molecule drifts and tumbles as simulated.
    """

    atoms: Atoms = "all"
    align: Alignment = "superposed"
    cutoff: float = 0.4
    """Atoms nearer than this (nm) are joined."""
    update: int = 12
    """Frames after which the graph is updated."""

    def __post_init__(self) -> None:
        """Refuse invalid choices."""
        for option, value, choices in (
            ("atoms", self.atoms, get_args(Atoms)),
            ("align", self.align, get_args(Alignment)),
        ):
            one_of(option, value, choices)
        frames = is_int(self.update) and 1 <= self.update <= FRAMES
        if not (SMALL <= self.cutoff <= LARGE and frames):
            raise InputError(
                f"the graph's cutoff is {self.cutoff} nm and its update {abridged(self.update)} "
                f"frames. Expected a positive distance and at least 1 frame, at most {FRAMES}. Use "
                f"0.4 and 12, for instance."
            )


def prepare(
    positions: Float[np.ndarray, "system time atom 3"],
    times: Float[np.ndarray, "..."],
    molecule: Molecule,
    preparation: Preparation,
    settings: Mapping[str, Any],
    **metadata: Any,
) -> Trajectories:
    """Trajectories of whole molecules (positions in nm, times in ps), with graphs by distance.

    `settings` are recorded with the preparation in the file's attributes; `metadata` (parameters,
    split, provenance) is passed on to `Trajectories.build`.
    """
    kept = molecule.chosen(preparation.atoms)
    molecule = molecule.only(kept)
    frames = aligned(positions[:, :, kept], molecule.mass, preparation.align)
    clock = np.broadcast_to(times, frames.shape[:2])
    steps = np.diff(clock, axis=1)
    step = float(np.nanmedian(steps)) if np.isfinite(steps).any() else 1.0
    return Trajectories.build(
        frames.swapaxes(1, 2),
        clock,
        edges=distance_edges(frames, clock, preparation.cutoff, preparation.update),
        features=FEATURES,
        roles=("position",) * 3,
        variables=("q",) * 3,
        units=("nm",) * 3,
        group=np.broadcast_to(molecule.residue, (len(frames), len(molecule.residue))),
        time_units="ps",
        generator_settings=json.dumps({**settings, "preparation": asdict(preparation)}),
        topology=molecule.pdb,
        graph_cutoff=preparation.cutoff,
        graph_interval=preparation.update * step,
        **metadata,
    )


def refuse_frames(frames: int, atoms: int, what: str, advice: str) -> None:
    """Refuse more frames of so many atoms, in all systems, than memory can hold."""
    refuse_beyond_memory(PER_VALUE * len(FEATURES) * frames * atoms, what, advice)


def aligned(
    positions: Float[np.ndarray, "system time atom 3"],
    mass: Float[np.ndarray, " atom"],
    align: Alignment,
) -> Float[np.ndarray, "system time atom 3"]:
    """Aligned trajectories, with the centre of mass of each first frame at the origin."""
    share = mass / mass.sum()
    frames = np.empty(positions.shape)
    for system, place in enumerate(positions):  # One at a time: all together may be gigabytes.
        centres = np.einsum("a,tax->tx", share, place)[:, None]
        moved = place - (centres if align == "centred" else centres[:1])
        frames[system] = superposed(moved[None])[0] if align == "superposed" else moved
    return frames


def atom_names(pdb: str) -> str:
    """Names, residues and chains of the atoms of a PDB text, in order: they identify a molecule.

    Serial numbers and coordinates are left out.
    """
    first_model = pdb.split("\nENDMDL", 1)[0]
    lines = first_model.splitlines()
    return "\n".join(line[12:27] for line in lines if line.startswith(("ATOM", "HETATM")))


def atoms_of(data: Trajectories) -> str | None:
    """Identity of the atoms that are the objects (`atom_names`); None if objects are not atoms."""
    if not data.topology or len(data.position_features) != len(FEATURES):
        return None
    return atom_names(data.topology)
