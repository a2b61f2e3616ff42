"""Settings of a solve: method, step or tolerances, budget."""

from pydantic import Field

from pgode.ode.methods import find_method
from pgode.runtime.settings import Settings


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
    """Refuse a method that does not exist."""
    find_method(method)
