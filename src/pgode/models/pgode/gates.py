"""Weights of the prototypes for each object (paper, Eq. 11)."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.models.latent import Encoded
from pgode.nn.feedforward import FeedForward
from pgode.nn.initialisation import scaled
from pgode.runtime.settings import Settings

UNDECIDED = 0.1
"""Factor on the initial weights of rho's last layer: untrained, all prototypes weigh the same."""


@dataclass(frozen=True)
class Contexts:
    """Output of the encoders: u_i of each object, g of each system."""

    object: Float[Tensor, "objects width"]
    system: Float[Tensor, "systems width"]

    def named(self) -> dict[str, Tensor]:
        """The contexts under the names that forecasts report."""
        return {"object_context": self.object, "system_context": self.system}


def contexts_of(encoded: Encoded) -> Contexts:
    """The contexts that an encoding holds by name."""
    return Contexts(encoded.contexts["object_context"], encoded.contexts["system_context"])


class GateConfig(Settings):
    """The contexts that the gate sees, and their scale."""

    contexts: Literal["both", "system", "object"] = Field(
        "both", description="contexts the gate sees: both, only g (w/o O), only u (w/o system)"
    )
    group_context: bool = Field(False, description="add the context of each object's group")
    normalise: bool = Field(
        True, description="layer norm on each context, and a last layer of rho that starts small"
    )

    @model_validator(mode="after")
    def _groups_are_made_of_objects(self) -> "GateConfig":
        if self.group_context and self.contexts == "system":
            raise ValueError(
                "group_context is a mean of object contexts, which contexts=system must not see"
            )
        return self

    @property
    def sees_object(self) -> bool:
        """Whether weights may depend on u_i."""
        return self.contexts != "system"

    @property
    def sees_system(self) -> bool:
        """Whether weights may depend on g."""
        return self.contexts != "object"

    def visible(self, contexts: Contexts, batch: Batch) -> list[Float[Tensor, "objects width"]]:
        """The contexts that may be seen, one row per object."""
        parts = [contexts.object] if self.sees_object else []
        return [*parts, contexts.system[batch.system]] if self.sees_system else parts

    def inputs(self, width: int) -> int:
        """Length of the visible contexts together."""
        return width * (self.sees_object + self.sees_system)


class Gate(nn.Module):
    """w_i = softmax(rho([u_i, r_i, g])) over K prototypes, from the contexts it may see.

    With `group_context`, r_i is the mean of a learned map of the contexts of all objects in i's
    group, and zero for an object without one.

    With `normalise`, each context has mean 0 and variance 1 over its channels. The system context
    is a sum over objects and an order of magnitude longer than the others: without the norm it
    saturates the softmax in the first epochs, at one prototype for all objects.

    `constants` of an object (its first so many) are seen with its context, and never without.
    """

    def __init__(self, width: int, count: int, config: GateConfig, constants: int = 0) -> None:
        super().__init__()
        self.config = config
        self.constants = constants if config.sees_object else 0
        self.region = nn.Linear(width, width) if config.group_context else None
        contexts = config.inputs(width) + width * config.group_context
        self.rho = FeedForward(contexts + self.constants, width, count)
        if config.normalise:
            scaled(self.rho.second, UNDECIDED)

    def forward(self, contexts: Contexts, batch: Batch) -> Float[Tensor, "objects count"]:
        """One row of weights per object; each row sums to 1."""
        parts = self.config.visible(contexts, batch)
        if self.region is not None:  # Between u_i and g.
            parts.insert(1, self._group_context(self.region, contexts, batch))
        if self.config.normalise:
            parts = [nn.functional.layer_norm(part, part.shape[-1:]) for part in parts]
        parts.append(batch.constants[:, : self.constants])  # They have a scale of 1 already.
        return torch.softmax(self.rho(torch.cat(parts, dim=-1)), dim=-1)

    def _group_context(
        self, region: nn.Linear, contexts: Contexts, batch: Batch
    ) -> Float[Tensor, "objects width"]:
        member = batch.group >= 0
        mapped = nn.functional.silu(region(contexts.object)) * member.unsqueeze(1)
        group = batch.group.clamp(min=0)
        count = torch.zeros_like(group).index_add(0, group, member.long()).clamp(min=1)
        total = torch.zeros_like(mapped).index_add(0, group, mapped)
        return (total / count.unsqueeze(1))[group] * member.unsqueeze(1)


class NoGate(nn.Module):
    """A weight of 1 for every object: there is a single message function."""

    def forward(self, contexts: Contexts, batch: Batch) -> Float[Tensor, "objects 1"]:
        """A column of ones."""
        return torch.ones_like(contexts.object[:, :1])
