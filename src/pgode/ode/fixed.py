"""Solving with fixed steps: equal steps within each interval between two outputs."""

from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.ode.failures import over_budget
from pgode.ode.intervals import Intervals, cross
from pgode.ode.methods import FixedStep
from pgode.ode.settings import SolverConfig
from pgode.ode.steps import Derivative, Step, StepFunction


def solve_fixed(
    method: FixedStep,
    derivative: Derivative,
    initial: Float[Tensor, "rows width"],
    intervals: Intervals,
    config: SolverConfig,
    systems: Int[Tensor, " rows"] | None,
) -> tuple[Float[Tensor, "outputs rows width"], int, int]:
    """Step through the intervals; returns the states, the steps and the evaluations."""
    counts = intervals.steps(config.step)
    evaluations = sum(counts) * method.stages
    if evaluations > config.max_evaluations:
        raise over_budget(config.method, evaluations, config.max_evaluations, config.step)

    begins = intervals.begins.to(initial.dtype).to(initial.device)
    lengths = intervals.lengths.to(initial.dtype).to(initial.device)
    z, states = initial, []
    for interval, count in enumerate(counts):
        if count > 0:
            uniform = intervals.uniform(interval)
            length = intervals.longest[interval] if uniform else lengths[interval]
            steps = partial(_steps, method.step, derivative, begins[interval], length, count)
            z = cross(steps, z, config.recompute)
        states.append(z)
    return torch.stack(states), sum(counts), evaluations


def _steps(
    step: StepFunction,
    derivative: Derivative,
    begin: Float[Tensor, " rows"],
    length: float | Float[Tensor, " rows"],
    count: int,
    z: Float[Tensor, "rows width"],
) -> Float[Tensor, "rows width"]:
    """Carry the states over one interval in `count` equal steps."""
    short = length / count
    for number in range(count):
        # Counted from the start of the interval each time, so that rounding does not accumulate.
        z = step(derivative, Step(begin + number * short if number else begin, short), z)
    return z
