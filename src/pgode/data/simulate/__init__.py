"""Simulated systems of interacting particles, and molecules in water (`protein`)."""

from pgode.data.simulate.conserved import energy
from pgode.data.simulate.simulation import SYSTEMS, generated_by, simulate

__all__ = ["SYSTEMS", "energy", "generated_by", "simulate"]
