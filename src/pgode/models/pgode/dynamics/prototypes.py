"""Right-hand sides of the prototypical graph ODE (paper, Eq. 9-10) and of its variants."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.models.pgode.dynamics.compiled import compiled_mixture
from pgode.models.pgode.dynamics.messages import Backbone, ContextRelation, build_messages
from pgode.models.pgode.dynamics.update import Mixture, Update
from pgode.models.pgode.gates import Contexts
from pgode.nn.feedforward import FeedForward
from pgode.runtime.limits.bounds import LAYERS
from pgode.runtime.settings import Settings


class MessagesConfig(Settings):
    """K message-passing prototypes, mixed by the gate (Eq. 10)."""

    kind: Literal["messages"] = "messages"
    prototypes: int = Field(5, ge=1, le=LAYERS, description="K, the number of GNN prototypes")
    top_k: int | None = Field(
        None, ge=1, le=LAYERS, description="PGODE-S: prototypes used per object"
    )
    backbone: Backbone = Field("message", description="how a prototype gathers its neighbours")

    @model_validator(mode="after")
    def _top_k_fits(self) -> "MessagesConfig":
        if self.top_k == 1:
            raise ValueError(
                "with top_k=1 the one prototype that is kept has the weight 1 whatever the gate "
                "says, so the gate cannot learn; top_k is at least 2, or prototypes=1 without a "
                "gate"
            )
        if self.top_k is not None and self.top_k >= self.prototypes:
            raise ValueError(f"top_k is not below the number of prototypes, {self.prototypes}")
        if self.top_k is not None and self.backbone != "message":
            raise ValueError("top_k works with backbone=message only; leave one of them out")
        return self


class SingleConfig(Settings):
    """w. Single: one message function that is fed both contexts."""

    kind: Literal["single"] = "single"
    prototypes: ClassVar[int] = 1


class MLPConfig(Settings):
    """w. MLP: one message function plus a network on the contexts."""

    kind: Literal["mlp"] = "mlp"
    prototypes: ClassVar[int] = 1


class Prototypes(nn.Module):
    """K message-passing functions, mixed for each object by its gate weights.

    sum_k w_ik psi_a^k( sum_j psi_r^k([z_i, z_j, e_ij]) )
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        count: int,
        attributes: int,
        backbone: Backbone = "message",
        context: int = 0,
    ) -> None:
        super().__init__()
        self.gather = build_messages(backbone, inputs, count * width, attributes, context)
        self.update = Update(width, count)

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The mixed output as a function of the state."""
        context = self._context(contexts, batch)
        gather = self.gather.bind(batch.graph, context)
        mix = self.update.bind(gate)

        def mixture(z: Tensor) -> Tensor:
            return mix(gather(z))

        if not isinstance(self.gather, ContextRelation):
            return mixture
        return compiled_mixture(self.gather, self.update, batch.graph, gate, context, mixture)

    def _context(self, contexts: Contexts, batch: Batch) -> Tensor | None:
        return None


class Single(Prototypes):
    """w. Single: one message function that is fed [z_i, z_j, u_i, g] instead of being mixed."""

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__(inputs, width, 1, attributes, context=2 * width)

    def _context(self, contexts: Contexts, batch: Batch) -> Tensor | None:
        return torch.cat([contexts.object, contexts.system[batch.system]], dim=-1)


class WithMLP(Prototypes):
    """w. MLP: one GNN plus a network on the contexts that gives each object its own drift."""

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__(inputs, width, 1, attributes)
        self.individual = FeedForward(2 * width, width, width)

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The GNN of the state plus a drift that is constant along the trajectory."""
        shared = super().bind(gate, contexts, batch)
        both = torch.cat([contexts.object, contexts.system[batch.system]], dim=-1)
        drift = self.individual(both)
        return lambda z: shared(z) + drift
