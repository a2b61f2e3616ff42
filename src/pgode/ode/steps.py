"""One step of each fixed-step Runge-Kutta method, with few temporaries and few autograd nodes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from jaxtyping import Float
from torch import Tensor

Derivative: TypeAlias = Callable[
    [Float[Tensor, " rows"], Float[Tensor, "rows width"]], Float[Tensor, "rows width"]
]
"""dz/dt of every row (object), given the time of each row and the states."""


@dataclass(frozen=True)
class Step:
    """One step of every row: the time at which it begins and its length.

    Where all rows take the same step, the length is a number. Moving along a slope is then one
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


StepFunction: TypeAlias = Callable[
    [Derivative, Step, Float[Tensor, "rows width"]], Float[Tensor, "rows width"]
]
"""The states after one step from the given ones."""


def euler(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    """Order 1: z + length f(t, z)."""
    return step.move(z, derivative(step.begin, z), 1.0)


def midpoint(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    """Order 2: the slope halfway, which half an Euler step leads to."""
    middle = step.move(z, derivative(step.begin, z), 0.5)
    return step.move(z, derivative(step.time(0.5), middle), 1.0)


def rk4(
    derivative: Derivative, step: Step, z: Float[Tensor, "rows width"]
) -> Float[Tensor, "rows width"]:
    """Order 4, the classic method: z + length (k1 + 2 k2 + 2 k3 + k4) / 6.

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
