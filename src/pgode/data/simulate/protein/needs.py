"""The memory that a data set of a molecule needs, before anything is simulated.

Estimated from the structure as it was given: repairs add atoms, and water that it holds is not
counted, so that the real number is larger rather than smaller.
"""

import numpy as np
from jaxtyping import Float

from pgode.data.molecules import FEATURES, PER_VALUE, Preparation
from pgode.data.simulate.protein.forces import PADDING
from pgode.data.simulate.protein.peptide import RESIDUES
from pgode.data.simulate.protein.settings import ProteinSettings
from pgode.data.simulate.protein.structure import Source
from pgode.runtime.memory import refuse_beyond_memory

WITH_HYDROGEN = 1.5
"""Atoms for each heavy one, at least; twice as many are usual."""
SAMPLED = 8.0
"""Of the bytes of each coordinate (`PER_VALUE`), those that all atoms take; the others are taken by
chosen atoms alone.
"""
DENSITY = 90.0
"""Atoms of water in a cubic nm, and somewhat less."""
PER_ATOM = 2000.0
"""Bytes of each atom of the box while water is added and forces are set up."""


def check_memory(source: Source, settings: ProteinSettings, preparation: Preparation) -> None:
    """Refuse more samples, frames or water than memory can hold."""
    heavy, names = _heavy_atoms(source.pdb)
    atoms = WITH_HYDROGEN * len(heavy)
    kept = {"all": atoms, "heavy": len(heavy), "ca": names.count("CA")}[preparation.atoms]
    samples, replicas = sum(settings.counts.values()), settings.replicas + 1
    futures = sum(len(settings.replicated_of(split)) for split in ("test", "ood"))
    per_frame = len(FEATURES) * (SAMPLED * atoms + (PER_VALUE - SAMPLED) * kept)
    refuse_beyond_memory(
        per_frame * samples * settings.frames,
        f"simulating {samples} samples of {source.name} with {settings.frames} frames",
        "Simulate fewer samples (--train, --val, --test, --ood) or --frames.",
    )
    if settings.replicas:
        refuse_beyond_memory(
            per_frame * futures * replicas * (settings.condition + settings.horizon),
            f"simulating {settings.replicas} replicas of {futures} samples of {source.name}",
            "Simulate fewer replicas (--replicas, --replicated), or a shorter --horizon.",
        )
    if not settings.implicit and len(heavy):
        radius = float(np.linalg.norm(heavy - (heavy.min(0) + heavy.max(0)) / 2, axis=1).max())
        volume = (2 * radius + PADDING) ** 3 / np.sqrt(2)  # A rhombic dodecahedron.
        refuse_beyond_memory(
            PER_ATOM * DENSITY * volume,
            f"the water around {source.name}, which extends over {2 * radius:.3g} nm,",
            "Check the coordinates of the structure, give a part of it, or use --implicit.",
        )


def _heavy_atoms(pdb: str) -> tuple[Float[np.ndarray, "atom 3"], list[str]]:
    """Positions (nm) and names of the atoms of amino acids without hydrogen, in the first model."""
    known = set(RESIDUES.values())
    places, names = [], []
    for line in pdb.split("\nENDMDL", 1)[0].splitlines():
        if not line.startswith("ATOM") or line[17:20] not in known or line[16:17] not in " A":
            continue
        name = line[12:16].strip()
        if name.lstrip("0123456789").startswith("H"):
            continue
        try:
            places.append([float(line[30 + 8 * k : 38 + 8 * k]) / 10 for k in range(3)])
        except ValueError:  # OpenMM says what is wrong.
            continue
        names.append(name)
    return np.array(places).reshape(-1, 3), names
