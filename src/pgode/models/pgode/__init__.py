"""PGODE: the prototypical graph ODE (ICML 2024), with every variant of the paper by config."""

from pgode.models.pgode.config import PGODEConfig
from pgode.models.pgode.model import PGODE

__all__ = ["PGODE", "PGODEConfig"]
