"""How many prototypes a gate uses, and how much its weights differ between objects."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

COLLAPSED = 1.5
"""Prototypes in use over all objects below which a mixture is hardly one."""


@dataclass(frozen=True)
class GateUse:
    """Effective numbers of prototypes, between 1 and K, and the difference between objects.

    `per_object` is exp of the mean entropy of an object's weights. `overall` is exp of the entropy
    of the weights averaged over objects: it is larger where objects prefer different prototypes.
    `difference` is the share of an object's weight that lies elsewhere than in the average over
    objects: 0 if all have the same weights, at most 1 - 1/K. Logs of version 0.2 do not have it.
    """

    prototypes: int
    per_object: float
    overall: float
    difference: float | None = None

    @classmethod
    def of(cls, weights: Float[np.ndarray, "object prototype"]) -> "GateUse | None":
        """The use of a gate with these weights; None where there is nothing to choose."""
        if weights.shape[0] == 0 or weights.shape[1] < 2:
            return None
        exact = weights.astype(np.float64)
        mean = exact.mean(0)
        per_object, overall = np.exp(_entropy(exact).mean()), np.exp(_entropy(mean))
        difference = np.abs(exact - mean).sum(1).mean() / 2
        return cls(weights.shape[1], float(per_object), float(overall), float(difference))

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "GateUse":
        """Read back what `to_json` wrote."""
        return cls(**content)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @property
    def is_collapsed(self) -> bool:
        """Whether nearly all weight of all objects lies on one prototype."""
        return self.overall < COLLAPSED

    @property
    def text(self) -> str:
        """The numbers in a phrase."""
        apart = "" if self.difference is None else f", differing by {self.difference:.0%}"
        return (
            f"{self.per_object:.2f} of {self.prototypes} per object, "
            f"{self.overall:.2f} over all objects{apart}"
        )


def _entropy(weights: Float[np.ndarray, "*rows prototype"]) -> Float[np.ndarray, "*rows"]:
    logarithm = np.log(np.where(weights > 0, weights, 1))
    return np.asarray(-(weights * logarithm).sum(-1))
