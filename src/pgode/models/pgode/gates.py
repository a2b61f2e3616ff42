"""Weights of the prototypes for each object (paper, Eq. 11)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.nn.feedforward import FeedForward


@dataclass(frozen=True)
class Contexts:
    """What the encoders found: u_i of each object, g of each system."""

    object: Float[Tensor, "objects width"]
    system: Float[Tensor, "systems width"]


class Gate(nn.Module):
    """w_i = softmax(rho([u_i, r_i, g])) over K prototypes, from the contexts it may see.

    `uses_object=False` is the ablation w/o O: the weights then depend on the system alone.
    `uses_system=False` is w/o system. With `regions`, r_i is the mean of a learned map of the
    contexts of all objects in i's group, and zero for an object without one.
    """

    def __init__(
        self, width: int, count: int, *, uses_object: bool, uses_system: bool, regions: bool
    ) -> None:
        super().__init__()
        self.uses_object, self.uses_system = uses_object, uses_system
        self.region = nn.Linear(width, width) if regions else None
        self.rho = FeedForward(width * (uses_object + uses_system + regions), width, count)

    def forward(self, contexts: Contexts, batch: Batch) -> Float[Tensor, "objects count"]:
        """One row of weights per object; each row sums to 1."""
        parts = [contexts.object] if self.uses_object else []
        if self.region is not None:
            parts.append(self._region_context(contexts, batch))
        if self.uses_system:
            parts.append(contexts.system[batch.system])
        return torch.softmax(self.rho(torch.cat(parts, dim=-1)), dim=-1)

    def _region_context(self, contexts: Contexts, batch: Batch) -> Float[Tensor, "objects width"]:
        assert self.region is not None
        member = batch.group >= 0
        mapped = nn.functional.silu(self.region(contexts.object)) * member.unsqueeze(1)
        group = batch.group.clamp(min=0)
        count = torch.zeros_like(group).index_add(0, group, member.long()).clamp(min=1)
        total = torch.zeros_like(mapped).index_add(0, group, mapped)
        return (total / count.unsqueeze(1))[group] * member.unsqueeze(1)


class NoGate(nn.Module):
    """One weight of 1 for every object: there is one message function, and nothing to choose."""

    def forward(self, contexts: Contexts, batch: Batch) -> Float[Tensor, "objects 1"]:
        """A column of ones."""
        return torch.ones_like(contexts.object[:, :1])
