"""The table of solvers: a method is one line here, and a step function if its steps are fixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pgode.ode.steps import StepFunction, euler, midpoint, rk4
from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class FixedStep:
    """A method with steps of given length."""

    step: StepFunction
    stages: int
    """Evaluations of the derivative per step."""


@dataclass(frozen=True)
class Adaptive:
    """A method of torchdiffeq that chooses its steps to meet the tolerances."""

    interpolates: bool = False
    """Whether outputs are interpolated within longer steps.

    With dopri5 the error of that stays near ten times the tolerance, for as little as a third of
    the evaluations. With bosh3 and dopri8 it is up to a thousand times the tolerance, so their
    steps end on every output.
    """


METHODS: Mapping[str, FixedStep | Adaptive] = MappingProxyType(
    {
        "euler": FixedStep(euler, stages=1),
        "midpoint": FixedStep(midpoint, stages=2),
        "rk4": FixedStep(rk4, stages=4),
        "dopri5": Adaptive(interpolates=True),
        "dopri8": Adaptive(),
        "bosh3": Adaptive(),
        "fehlberg2": Adaptive(),
        "adaptive_heun": Adaptive(),
    }
)
"""All methods by name.

torchdiffeq's fixed-grid and scipy methods are left out: the first ignore our tolerances, and
gradients do not flow through the second. The error estimate of fehlberg2 is loose: its errors can
be hundreds of times its tolerances.
"""


def names(kind: type[FixedStep] | type[Adaptive]) -> tuple[str, ...]:
    """The names of all methods of one kind."""
    return tuple(name for name, method in METHODS.items() if isinstance(method, kind))


def find_method(name: str) -> FixedStep | Adaptive:
    """The method of this name; otherwise an error that suggests the closest and lists all."""
    if name in METHODS:
        return METHODS[name]
    parts = (f'There is no ODE solver method "{name}".', did_you_mean(name, METHODS))
    raise InputError(
        f"{' '.join(part for part in parts if part)} Fixed-step methods: "
        f"{', '.join(names(FixedStep))}. Adaptive methods: {', '.join(names(Adaptive))}."
    )
