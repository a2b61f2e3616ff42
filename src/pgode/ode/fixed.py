"""Fixed-step Runge-Kutta methods, with few temporaries and few autograd nodes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.ode.failures import over_budget
from pgode.ode.intervals import Intervals, cross
from pgode.ode.settings import STAGES, Derivative, SolverConfig


@dataclass(frozen=True)
class Step:
    """One step of every row: the time it begins and its length.

    Where all rows take the same step the length is a number. Moving along a slope is then one
    fused `add`, which keeps nothing for the backward pass; with a length per row it is one fused
    `addcmul`, which keeps only the lengths.
    """

    begin: Float[Tensor, " rows"]
    length: float | Float[Tensor, " rows"]

    def time(self, share: float) -> Float[Tensor, " rows"]:
        """The time after this share of the step."""
        return self.begin + share * self.length

    def move(
        self, z: Float[Tensor, "rows width"], slope: Float[Tensor, "rows width"], share: float
    ) -> Float[Tensor, "rows width"]:
        """z + share * length * slope."""
        if isinstance(self.length, float):
            return torch.add(z, slope, alpha=share * self.length)
        return torch.addcmul(z, slope, self.length[:, None], value=share)


def _euler(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    return step.move(z, derivative(step.begin, z), 1.0)


def _midpoint(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    middle = step.move(z, derivative(step.begin, z), 0.5)
    return step.move(z, derivative(step.time(0.5), middle), 1.0)


def _rk4(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    """The classic method: z + length (k1 + 2 k2 + 2 k3 + k4) / 6.

    Adding k2 and k3 first means their gradient is scaled once for both; k4 is added in place,
    which is safe because `add` keeps none of its inputs.
    """
    halfway = step.time(0.5)
    k1 = derivative(step.begin, z)
    k2 = derivative(halfway, step.move(z, k1, 0.5))
    k3 = derivative(halfway, step.move(z, k2, 0.5))
    k4 = derivative(step.time(1.0), step.move(z, k3, 1.0))
    total = torch.add(k1, k2 + k3, alpha=2.0).add_(k4)
    return step.move(z, total, 1 / 6)


_METHODS: dict[
    str,
    Callable[[Derivative, Step, Float[Tensor, "rows width"]], Float[Tensor, "rows width"]],
] = {"euler": _euler, "midpoint": _midpoint, "rk4": _rk4}


def solve_fixed(
    derivative: Derivative,
    initial: Float[Tensor, "rows width"],
    intervals: Intervals,
    config: SolverConfig,
    systems: Int[Tensor, " rows"] | None,
) -> tuple[Float[Tensor, "outputs rows width"], int, int]:
    """Step through the intervals; returns the states, the steps and the evaluations."""
    counts = intervals.steps(config.step)
    evaluations = sum(counts) * STAGES[config.method]
    if evaluations > config.max_evaluations:
        raise over_budget(config.method, evaluations, config.max_evaluations, config.step)

    begins = intervals.begins.to(initial.dtype).to(initial.device)
    lengths = intervals.lengths.to(initial.dtype).to(initial.device)
    z, states = initial, []
    for interval, count in enumerate(counts):
        if count > 0:
            uniform = intervals.uniform(interval)
            length = intervals.longest[interval] if uniform else lengths[interval]
            steps = partial(
                _steps, _METHODS[config.method], derivative, begins[interval], length, count
            )
            z = cross(steps, z, config.recompute)
        states.append(z)
    return torch.stack(states), sum(counts), evaluations


def _steps(
    method: Callable[[Derivative, Step, Float[Tensor, "rows width"]], Float[Tensor, "rows width"]],
    derivative: Derivative,
    begin: Float[Tensor, " rows"],
    length: float | Float[Tensor, " rows"],
    count: int,
    z: Float[Tensor, "rows width"],
) -> Float[Tensor, "rows width"]:
    """Carry the states over one interval in `count` equal steps."""
    short = length / count
    for number in range(count):
        # From the beginning of the interval each time, so that rounding does not add up.
        z = method(derivative, Step(begin + number * short if number else begin, short), z)
    return z
