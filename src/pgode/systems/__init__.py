"""Sources of data: simulated systems of interacting particles."""

from pgode.systems.conserved import energy
from pgode.systems.simulation import SYSTEMS, simulate

__all__ = ["SYSTEMS", "energy", "simulate"]
