"""Transforms of single features, under which models see values that span orders of magnitude."""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

Values = Float[np.ndarray, "..."]


@dataclass(frozen=True)
class Transform:
    """A strictly increasing function, its inverse, and the values that have one, in words."""

    forward: Callable[[Values], Values]
    backward: Callable[[Values], Values]
    domain: str


def _unchanged(values: Values) -> Values:
    return values


LARGEST = 700.0
"""Exponent beyond which a double overflows: a forecast that diverges stays a number."""

TRANSFORMS = MappingProxyType(
    {
        "": Transform(_unchanged, _unchanged, "any number"),
        "log1p": Transform(
            np.log1p, lambda y: np.expm1(np.minimum(y, LARGEST)), "numbers above -1"
        ),
        "log": Transform(np.log, lambda y: np.exp(np.minimum(y, LARGEST)), "positive numbers"),
        "sqrt": Transform(
            np.sqrt, lambda y: np.square(np.maximum(y, 0.0)), "numbers that are not negative"
        ),
    }
)
"""By name; the empty name leaves values as they are."""
