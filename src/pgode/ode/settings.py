"""What a caller chooses about a solve: the method, its step or tolerances, its budget."""

import difflib
from collections.abc import Callable
from typing import TypeAlias

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.runtime.errors import InputError
from pgode.runtime.settings import Settings

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


class SolverConfig(Settings):
    """How to integrate dz/dt."""

    method: str = Field("rk4", description="one of `METHODS`")
    frame_time: float = Field(
        0.1, gt=0, allow_inf_nan=False, description="model time that one frame takes"
    )
    step: float = Field(
        0.1,
        gt=0,
        allow_inf_nan=False,
        description="largest fixed step in model time; longer intervals are cut into equal steps",
    )
    rtol: float = Field(
        1e-5, gt=0, allow_inf_nan=False, description="relative tolerance of adaptive methods"
    )
    atol: float = Field(
        1e-6, gt=0, allow_inf_nan=False, description="absolute tolerance of adaptive methods"
    )
    max_evaluations: int = Field(
        10_000, gt=0, description="evaluations of the derivative before a solve is stopped"
    )
    recompute: bool = Field(
        False, description="keep output states only and recompute each interval: saves memory"
    )


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
