"""Ranges of system parameters, in and out of the distribution of the training systems."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

Interval = tuple[float, float]


@dataclass(frozen=True)
class Ranges:
    """Inner ranges of parameters for training, validation and test, and the outer ones around them.

    An out-of-distribution system has at least one parameter outside its inner range (paper, table
    of datasets). It is drawn by rejection from the outer ranges, so that it is uniform over what
    remains; moving one chosen parameter out instead would favour the edges of the inner ranges.
    """

    inner: Mapping[str, Interval]
    outer: Mapping[str, Interval]

    def __post_init__(self) -> None:
        """Refuse ranges with nothing between them: rejection would never end."""
        wider = [
            name
            for name, (low, high) in self.inner.items()
            if self.outer[name][0] < low or self.outer[name][1] > high
        ]
        if not wider:
            raise ValueError("the outer range must be wider than the inner range of some parameter")

    @property
    def names(self) -> tuple[str, ...]:
        """Parameter names, in the order of the drawn values."""
        return tuple(self.inner)

    def inside(self, values: Float[np.ndarray, "*systems parameter"]) -> Bool[np.ndarray, "..."]:
        """Whether all parameters of a system lie in their inner ranges, for each system."""
        low, high = self._bounds(self.inner)
        return np.asarray(((values >= low) & (values <= high)).all(-1))

    def draw(self, stream: np.random.Generator, *, ood: bool) -> Float[np.ndarray, " parameter"]:
        """Draw the parameters of one system: uniform over the inner, or over outer minus inner."""
        low, high = self._bounds(self.outer if ood else self.inner)
        values: np.ndarray = stream.uniform(low, high)
        while ood and self.inside(values):
            values = stream.uniform(low, high)
        return values

    def _bounds(self, intervals: Mapping[str, Interval]) -> Float[np.ndarray, "2 parameter"]:
        return np.array([intervals[name] for name in self.names]).T
