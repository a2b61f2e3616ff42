"""Simulated systems of interacting particles, and molecules in water (`protein`)."""

from pgode.data.simulate.conserved import energy
from pgode.data.simulate.simulation import SYSTEMS, simulate

__all__ = ["SYSTEMS", "energy", "simulate"]
