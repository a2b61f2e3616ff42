"""Molecules in water, simulated with OpenMM (paper, section on molecular dynamics)."""

from pgode.data.simulate.protein.generate import collect, collect_replicas, simulate_samples
from pgode.data.simulate.protein.needs import check_memory
from pgode.data.simulate.protein.settings import RANGES, ProteinSettings
from pgode.data.simulate.protein.structure import Source, from_file, from_pdb_id, from_sequence

__all__ = [
    "RANGES",
    "ProteinSettings",
    "Source",
    "check_memory",
    "collect",
    "collect_replicas",
    "from_file",
    "from_pdb_id",
    "from_sequence",
    "simulate_samples",
]
