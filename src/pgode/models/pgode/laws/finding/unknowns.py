"""The unknowns of laws that are refined, in one vector."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws.motion.table import Cells


@dataclass(frozen=True)
class Unknowns:
    """The order of the unknowns: coefficients by law, exponents, drags and an outer field."""

    laws: int
    splines: int
    drags: int
    outer: int
    """Numbers of an outer field; none without one."""
    low: float
    spacing: float
    cells: Cells

    def packed(
        self, coefficients: np.ndarray, exponents: np.ndarray, drag: np.ndarray
    ) -> Float[np.ndarray, " unknowns"]:
        """All in one vector."""
        return np.concatenate([coefficients.ravel(), exponents, drag])

    def parts(
        self, values: Float[np.ndarray, " unknowns"]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients, exponents, and drags with the outer field."""
        size = self.laws * self.splines
        coefficients = values[:size].reshape(self.laws, self.splines)
        return coefficients, values[size : size + self.laws], values[size + self.laws :]

    def of_law(self, law: int) -> Int[np.ndarray, " splines+1"]:
        """The places of a law's coefficients, then of its exponent."""
        own = law * self.splines + np.arange(self.splines)
        return np.append(own, self.laws * self.splines + law)

    def sizes(self, values: Float[np.ndarray, " unknowns"]) -> Float[np.ndarray, " unknowns"]:
        """What counts as a change of order one: of coefficients that of the law's largest."""
        coefficients, exponents, drag = self.parts(values)
        largest = np.maximum(np.abs(coefficients).max(1), 1e-300)
        return self.packed(
            np.repeat(largest[:, None], self.splines, axis=1),
            np.ones_like(exponents),
            np.full_like(drag, 0.1),
        )

    def stiffness(
        self, evidence: Float[np.ndarray, " unknowns"]
    ) -> Float[np.ndarray, "unknowns unknowns"]:
        """Bends and slopes of the laws' corrections, as a quadratic form of their coefficients.

        Each counts as much as the data say about the coefficients it joins: near distances, of
        which little is known, are not bound by all that is known of others.
        """
        total = self.laws * (self.splines + 1) + self.drags + self.outer
        out = np.zeros((total, total))
        bends, slopes = (np.diff(np.eye(self.splines), order, axis=0) for order in (2, 1))
        for law in range(self.laws):
            own = slice(law * self.splines, (law + 1) * self.splines)
            local = evidence[own]
            low = np.minimum(local[:-1], local[1:])
            out[own, own] = (bends.T * np.minimum(low[:-1], low[1:])) @ bends
            out[own, own] += (slopes.T * low) @ slopes
        return out
