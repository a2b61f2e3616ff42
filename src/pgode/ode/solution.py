"""Solve dz/dt = f(t, z) from an initial state to any later times."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.ode.adaptive import solve_adaptive
from pgode.ode.failures import not_finite
from pgode.ode.fixed import solve_fixed
from pgode.ode.intervals import Intervals
from pgode.ode.lasting import is_lasting, kept, with_budget
from pgode.ode.methods import FixedStep, find_method
from pgode.ode.settings import SolverConfig
from pgode.ode.steps import Derivative
from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class Solution:
    """States at the output times, and the cost of the solve.

    A solve that fails raises `SolverError`, but see `lasting_solves`. The counts are those of the
    forward pass.
    """

    states: Float[Tensor, "outputs rows width"]
    steps: int
    evaluations: int


def solve(
    derivative: Derivative,
    initial: Float[Tensor, "rows width"],
    start: Float[Tensor, " rows"],
    times: Float[Tensor, "rows outputs"],
    config: SolverConfig,
    systems: Int[Tensor, " rows"] | None = None,
) -> Solution:
    """Solve every row from its start to each of its times.

    Times must not decrease along a row; a row with fewer outputs than others is padded with its
    last time, where it stays. `systems` gives the system of each row, for errors only. Gradients
    reach the initial state and the parameters of `derivative`, not the times.
    """
    method = find_method(config.method)
    _check_shapes(initial, start, times, systems)
    intervals = Intervals.between(start, times, systems)
    config = with_budget(config, intervals.latest)
    problem = (derivative, initial, intervals, config, systems)
    if isinstance(method, FixedStep):
        states, steps, evaluations = solve_fixed(method, *problem)
        accuracy = f"step {config.step:g}"
    else:
        states, steps, evaluations = solve_adaptive(method, *problem)
        accuracy = f"rtol {config.rtol:g}"

    # The minimum and maximum take one pass and no temporaries, and both propagate NaN.
    smallest, largest = torch.aminmax(states.detach())
    if not bool(torch.isfinite(smallest) & torch.isfinite(largest)):
        if is_lasting():
            return Solution(kept(states), steps, evaluations)
        how = f"{config.method}, {accuracy}"
        raise not_finite(states.detach(), initial.detach(), times, systems, how)
    return Solution(states, steps, evaluations)


def _check_shapes(
    initial: Float[Tensor, "rows width"],
    start: Float[Tensor, " rows"],
    times: Float[Tensor, "rows outputs"],
    systems: Int[Tensor, " rows"] | None,
) -> None:
    if initial.ndim != 2 or not initial.is_floating_point() or initial.numel() == 0:
        raise InputError(
            f"The initial state has shape {tuple(initial.shape)} and type {initial.dtype}; a solve "
            "needs floating-point values (rows, width), with at least one of each."
        )
    rows = initial.shape[0]
    fits = start.shape == (rows,) and times.ndim == 2 and times.shape[0] == rows
    if not fits or times.shape[1] == 0:
        raise InputError(
            f"The initial state has {rows} rows, but start has shape {tuple(start.shape)} and "
            f"times has shape {tuple(times.shape)}. Expected start ({rows},) and times ({rows}, "
            "outputs) with at least one output; expand times that all rows share."
        )
    if not (start.is_floating_point() and times.is_floating_point()):
        raise InputError(
            f"start is {start.dtype} and times is {times.dtype}; times are floating-point numbers "
            "in model time, not frame numbers."
        )
    if systems is not None and systems.shape != (rows,):
        raise InputError(
            f"systems has shape {tuple(systems.shape)}; expected the system of each of the {rows} "
            f"rows, ({rows},)."
        )
