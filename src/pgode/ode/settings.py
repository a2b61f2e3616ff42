"""Settings of a solve: method, step or tolerances, budget."""

from pydantic import Field, field_validator, model_validator

from pgode.ode.methods import FixedStep, find_method
from pgode.runtime.limits.bounds import COUNT, LARGE, SMALL
from pgode.runtime.settings import Settings


class SolverConfig(Settings):
    """How to integrate dz/dt."""

    method: str = Field("rk4", description="one of `METHODS`")
    frame_time: float = Field(
        0.1, ge=SMALL, le=LARGE, description="model time that one frame takes"
    )
    step: float = Field(
        0.1,
        ge=SMALL,
        le=LARGE,
        description="largest fixed step in model time; longer intervals are cut into equal steps",
    )
    rtol: float = Field(
        1e-5, ge=SMALL, le=LARGE, description="relative tolerance of adaptive methods"
    )
    atol: float = Field(
        1e-6, ge=SMALL, le=LARGE, description="absolute tolerance of adaptive methods"
    )
    max_evaluations: int = Field(
        10_000,
        gt=0,
        le=COUNT,
        description="evaluations of the derivative before a solve is stopped",
    )
    recompute: bool = Field(
        False, description="keep output states only and recompute each interval: saves memory"
    )

    @field_validator("method")
    @classmethod
    def _method_exists(cls, method: str) -> str:
        find_method(method)
        return method

    @model_validator(mode="after")
    def _settings_have_effect(self) -> "SolverConfig":
        """Steps belong to fixed-step methods, tolerances to adaptive ones."""
        fixed = isinstance(find_method(self.method), FixedStep)
        for name in ("rtol", "atol") if fixed else ("step",):
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} has no effect with method={self.method}; leave it out")
        if fixed and self.frame_time / self.step > self.max_evaluations:
            raise ValueError(
                f"a frame of {self.frame_time:g} takes {self.frame_time / self.step:.3g} steps of "
                f"{self.step:g}, but max_evaluations allows {self.max_evaluations}; raise step"
            )
        return self
