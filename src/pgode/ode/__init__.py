"""Solvers of dz/dt = f(t, z): fixed steps written for speed, adaptive ones from torchdiffeq."""

from pgode.ode.settings import METHODS, Derivative, SolverConfig
from pgode.ode.solution import Solution, solve

__all__ = ["METHODS", "Derivative", "Solution", "SolverConfig", "solve"]
