"""Molecules in water, simulated with OpenMM (paper, section on molecular dynamics)."""

from pgode.systems.protein.generate import collect, collect_replicas, simulate_samples
from pgode.systems.protein.settings import RANGES, Settings
from pgode.systems.protein.structure import Source, from_file, from_pdb_id, from_sequence

__all__ = [
    "RANGES",
    "Settings",
    "Source",
    "collect",
    "collect_replicas",
    "from_file",
    "from_pdb_id",
    "from_sequence",
    "simulate_samples",
]
