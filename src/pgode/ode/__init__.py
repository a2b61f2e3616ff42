"""Solvers of dz/dt = f(t, z): fixed steps written for speed, adaptive ones from torchdiffeq."""

from pgode.ode.methods import METHODS
from pgode.ode.settings import SolverConfig
from pgode.ode.solution import Solution, solve
from pgode.ode.steps import Derivative

__all__ = ["METHODS", "Derivative", "Solution", "SolverConfig", "solve"]
