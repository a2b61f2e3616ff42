"""Sources of data: simulated systems of interacting particles."""

from pgode.data.simulate.conserved import energy
from pgode.data.simulate.simulation import SYSTEMS, simulate

__all__ = ["SYSTEMS", "energy", "simulate"]
