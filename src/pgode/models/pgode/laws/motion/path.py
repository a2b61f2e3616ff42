"""What moves objects and how they moved: the tensors that motion takes and gives."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor


class Forces(NamedTuple):
    """Everything that accelerates, as tensors: pair laws, walls, drag and outer forces.

    The acceleration of object i is `push - pull q - drag v` plus, for each pair and law, strength
    times coupling times the table's value times the displacement.
    """

    table: Float[Tensor, "cells laws 4"]
    coupling: Float[Tensor, "pairs 2 laws"]
    strength: Float[Tensor, "copies systems"]
    walls: Float[Tensor, "copies systems axes 2"]
    drag: Float[Tensor, " objects"]
    pull: Float[Tensor, " objects"]
    push: Float[Tensor, "objects axes"]

    def to(self, device: torch.device) -> "Forces":
        """The same on another device."""
        return Forces(*(each.to(device) for each in self))


class Path(NamedTuple):
    """States at the outputs, steps taken to each, and the smallest distance met."""

    positions: Float[Tensor, "copies outputs objects axes"]
    velocities: Float[Tensor, "copies outputs objects axes"]
    steps: Int[np.ndarray, "copies systems outputs"]
    closest: Float[np.ndarray, "copies systems"]

    def cpu(self) -> "Path":
        """The same with its states on the CPU."""
        return self._replace(positions=self.positions.cpu(), velocities=self.velocities.cpu())
