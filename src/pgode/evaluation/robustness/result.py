"""`Robustness`: the measurements of `pgode robustness` for one or several runs.

Tables, sentences and the page read this object; `--json` writes it to a file. A number is None
where it is undefined or not finite, since JSON has no NaN.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter


@dataclass(frozen=True)
class Statistics:
    """Largest value, mean and variance over systems; a single system has no variance."""

    largest: float | None
    mean: float | None
    variance: float | None


@dataclass(frozen=True)
class Growth:
    """How far a perturbation of one magnitude moves the forecast, or the integrated state.

    `norm` is the norm of the difference at each frame from 0, averaged over objects and draws;
    `factor` is that norm divided by the magnitude, by horizon; `rate` is r of the fit
    c exp(r frame), per frame.
    """

    magnitude: float
    norm: tuple[float | None, ...]
    factor: dict[int, float | None]
    rate: float | None


@dataclass(frozen=True)
class PrototypeConstant:
    """Lipschitz constant of one prototype, per frame, and its gate weight averaged over objects."""

    weight: float
    constant: Statistics


@dataclass(frozen=True)
class Lipschitz:
    """Empirical Lipschitz constants per frame: of the mixture and of each prototype alone.

    `effective_prototypes` is exp(H), with H the mean entropy of an object's gate weights: 1 where
    each object has a single prototype, K where all weights are equal.
    """

    effective_prototypes: float
    mixture: Statistics
    prototypes: tuple[PrototypeConstant, ...]


@dataclass(frozen=True)
class Bound:
    """The rate that Theorem 3.1 allows, and the fastest measured growth, per frame.

    `fastest_step` is the largest log(|e(t + 1)| / |e(t)|) of all systems, draws, magnitudes and
    frames; `share_within` is the share of these steps that do not exceed their system's rate.
    """

    theorem: Statistics
    fastest_step: float | None
    share_within: float | None


@dataclass(frozen=True, kw_only=True)
class RunRobustness:
    """The measurements of one run, or of a model outside any run, which has no names.

    `name` tells the runs of one result apart, `run` is the folder as the user gave it, `model` the
    registered name of the model. `state`, `lipschitz` and `bound` are None where the last observed
    frame was perturbed.
    """

    name: str = ""
    run: str = ""
    model: str = ""
    prototypes: int | None
    perturbed: Literal["state", "observation"]
    forecast: tuple[Growth, ...]
    state: tuple[Growth, ...] | None = None
    lipschitz: Lipschitz | None = None
    bound: Bound | None = None


@dataclass(frozen=True)
class TheoremCheck:
    """Theorem 3.1 for a pair of runs, in mean and in variance over systems.

    `premise_...`: is every prototype's L^k below the L of the single prototype? `bound_...`: is the
    rate of the bound lower with several prototypes? None where there is no variance.
    """

    premise_mean: bool | None
    premise_variance: bool | None
    bound_mean: bool | None
    bound_variance: bool | None

    @property
    def premise(self) -> tuple[bool | None, bool | None]:
        """Whether the premise holds in mean, and in variance."""
        return self.premise_mean, self.premise_variance

    @property
    def conclusion(self) -> tuple[bool | None, bool | None]:
        """Whether the bound is lower in mean, and in variance."""
        return self.bound_mean, self.bound_variance


@dataclass(frozen=True)
class Comparison:
    """A run with several prototypes beside one with a single prototype, both by name.

    `displacement_ratio` is how far a perturbation of the smallest magnitude has moved the forecast
    at the last frame, several over single. `theorem` is None for runs without Lipschitz constants.
    """

    single: str
    several: str
    magnitude: float
    displacement_ratio: float | None
    theorem: TheoremCheck | None


@dataclass(frozen=True)
class Robustness:
    """All runs, perturbed in the same way on the same systems, and how they compare."""

    data: str
    data_hash: str
    split: str
    systems: int
    horizon: int
    horizons: tuple[int, ...]
    magnitudes: tuple[float, ...]
    draws: int
    seed: int
    runs: tuple[RunRobustness, ...]
    comparisons: tuple[Comparison, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Robustness":
        """Read back what `to_json` wrote."""
        return _adapter().validate_python(content)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, horizons as text where they are keys."""
        content: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return content


@cache
def _adapter() -> TypeAdapter[Robustness]:
    return TypeAdapter(Robustness)
