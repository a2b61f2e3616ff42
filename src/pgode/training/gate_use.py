"""How many prototypes a gate uses: per object, and over all objects together."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

COLLAPSED = 1.5
"""Prototypes in use over all objects below which a mixture is hardly one."""


@dataclass(frozen=True)
class GateUse:
    """Effective numbers of prototypes, between 1 and K.

    `per_object` is exp of the mean entropy of an object's weights. `overall` is exp of the entropy
    of the weights averaged over objects: it is larger where objects prefer different prototypes.
    """

    prototypes: int
    per_object: float
    overall: float

    @classmethod
    def of(cls, weights: Float[np.ndarray, "object prototype"]) -> "GateUse | None":
        """The use of a gate with these weights; None where there is nothing to choose."""
        if weights.shape[0] == 0 or weights.shape[1] < 2:
            return None
        exact = weights.astype(np.float64)
        per_object, overall = _entropy(exact).mean(), _entropy(exact.mean(0))
        return cls(weights.shape[1], float(np.exp(per_object)), float(np.exp(overall)))

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
        """Both numbers in a phrase."""
        return (
            f"{self.per_object:.2f} of {self.prototypes} per object, "
            f"{self.overall:.2f} over all objects"
        )


def _entropy(weights: Float[np.ndarray, "*rows prototype"]) -> Float[np.ndarray, "*rows"]:
    logarithm = np.log(np.where(weights > 0, weights, 1))
    return np.asarray(-(weights * logarithm).sum(-1))
