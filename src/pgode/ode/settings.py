"""What a caller chooses about a solve: the method, its step or tolerances, its budget."""

import difflib
from collections.abc import Callable
from typing import TypeAlias

from jaxtyping import Float
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor

from pgode.runtime.errors import InputError

Derivative: TypeAlias = Callable[
    [Float[Tensor, " rows"], Float[Tensor, "rows width"]], Float[Tensor, "rows width"]
]
"""dz/dt of every row (object), given the time of each row and the states."""

STAGES = {"euler": 1, "midpoint": 2, "rk4": 4}
"""The fixed-step methods written here, with the evaluations one step of each costs."""

ADAPTIVE = ("dopri5", "dopri8", "bosh3", "fehlberg2", "adaptive_heun")
"""The adaptive methods of torchdiffeq. Its fixed-grid and scipy methods are left out: the first
would ignore our tolerances, and gradients do not flow through the second. The error
estimate of fehlberg2 is a loose one: its errors can be hundreds of times its tolerances."""

METHODS = (*STAGES, *ADAPTIVE)


class SolverConfig(BaseModel):
    """How to integrate dz/dt.

    method: one of `METHODS`.
    step: the largest fixed step, in model time (one frame is 0.1). A longer interval between two
        output times is cut into equal steps.
    rtol, atol: tolerances of the adaptive methods, held by every row on its own.
    max_evaluations: how often one solve may evaluate the derivative before it is stopped.
    recompute: keep only the states at the output times, and go through each interval again in the
        backward pass: saves memory for about half more time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: str = "rk4"
    step: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    rtol: float = Field(default=1e-5, gt=0, allow_inf_nan=False)
    atol: float = Field(default=1e-6, gt=0, allow_inf_nan=False)
    max_evaluations: int = Field(default=10_000, gt=0)
    recompute: bool = False


def check_method(method: str) -> None:
    """Raise the error that names the nearest method and lists all of them."""
    if method in METHODS:
        return
    near = difflib.get_close_matches(method.lower(), METHODS, n=1)
    meant = f' Did you mean "{near[0]}"?' if near else ""
    raise InputError(
        f'There is no ODE solver method "{method}".{meant} Fixed-step methods: '
        f"{', '.join(STAGES)}. Adaptive methods: {', '.join(ADAPTIVE)}."
    )
