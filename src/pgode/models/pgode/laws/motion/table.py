"""Cells over the squared distance in which the compiled core finds a law by a shift of bits."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.models.pgode.laws.motion.force_kernel import SHIFT


@dataclass(frozen=True)
class Cells:
    """Cells from `first`, 2**BITS in each octave of the squared distance, `number` of them."""

    first: int
    number: int

    @classmethod
    def covering(cls, nearest: float, farthest: float) -> "Cells":
        """The cells of all distances between two."""
        low, high = np.array([nearest, farthest], np.float64).__pow__(2).view(np.int64) >> SHIFT
        return cls(int(low), int(high - low) + 1)

    @property
    def edges(self) -> Float[np.ndarray, " cells+1"]:
        """The squared distances between which the cells lie."""
        numbers = np.arange(self.first, self.first + self.number + 1, dtype=np.int64)
        return (numbers << SHIFT).view(np.float64)

    def table(
        self, values: Float[Tensor, "laws edges"], slopes: Float[Tensor, "laws edges"]
    ) -> Float[Tensor, "cells laws 4"]:
        """Values and slopes at both ends of each cell, the slopes times the cell's width.

        Slopes are derivatives by the squared distance.
        """
        width = torch.from_numpy(np.diff(self.edges)).to(values)
        parts = (values[:, :-1], values[:, 1:], width * slopes[:, :-1], width * slopes[:, 1:])
        return torch.stack(parts, dim=-1).transpose(0, 1).contiguous()
