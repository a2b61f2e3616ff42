"""Messages from neighbours: Eq. 9's relation network, or a GCN, GIN or GraphSAGE.

Each returns all K prototypes' sums at once, as (objects, K width), so that every matrix product
serves all prototypes together. The second linear map of psi_r commutes with the sum and is part
of psi_a's first, so it does not appear.
"""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import linear

from pgode.batches.graph import Graph
from pgode.nn.relation import Relation

Backbone = Literal["message", "gcn", "gin", "sage"]
Gather = Callable[[Float[Tensor, "objects inputs"]], Float[Tensor, "objects channels"]]
"""Messages bound to one graph: from states to the sum over each object's neighbours."""


class ContextRelation(Relation):
    """sum_j relu(W [z_i, z_j, e_ij, c_i]), see `Relation`.

    The optional context c_i (w. Single) is constant along a trajectory: its product is
    computed once.
    """

    def __init__(self, inputs: int, channels: int, attributes: int, context: int = 0) -> None:
        super().__init__(inputs, channels, attributes)
        self.context = nn.Linear(context, channels, bias=False) if context else None

    def bind(self, graph: Graph, context: Float[Tensor, "objects context"] | None) -> Gather:
        """Messages over one graph."""
        constant = None if self.context is None or context is None else self.context(context)
        # Looked up once: finding and calling modules takes as long as small sums.
        receive, bias, send = *self.receive.parameters(), self.send.weight
        total = graph.neighbour_sums(self.edge)

        def gather(z: Tensor) -> Tensor:
            received = linear(z, receive, bias)
            received = received if constant is None else received + constant
            return total(received, linear(z, send))

        return gather


class Convolution(nn.Module):
    """GCN: W sum_j w_ij z_j / sqrt(d_i d_j), with self-loops."""

    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.map = nn.Linear(inputs, channels)

    def bind(self, graph: Graph, context: Float[Tensor, "objects context"] | None) -> Gather:
        """Messages over one graph."""
        root = (graph.degree + 1).rsqrt()
        weights = graph.weights * root[graph.receivers] * root[graph.senders.long()]
        loop = (root * root).unsqueeze(1)
        return lambda z: self.map(graph.weighted_sum(z, weights) + loop * z)


class Isomorphism(nn.Module):
    """GIN: W ((1 + eps) z_i + sum_j w_ij z_j), with an eps for each channel of the state."""

    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros(inputs))
        self.map = nn.Linear(inputs, channels)

    def bind(self, graph: Graph, context: Float[Tensor, "objects context"] | None) -> Gather:
        """Messages over one graph."""
        weights = graph.weights
        return lambda z: self.map((1 + self.epsilon) * z + graph.weighted_sum(z, weights))


class SampleAndAggregate(nn.Module):
    """GraphSAGE: W_own z_i + W_other mean_j w_ij z_j."""

    def __init__(self, inputs: int, channels: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, channels)
        self.other = nn.Linear(inputs, channels, bias=False)

    def bind(self, graph: Graph, context: Float[Tensor, "objects context"] | None) -> Gather:
        """Messages over one graph."""
        weights = graph.weights / graph.degree.clamp(min=1)[graph.receivers]
        return lambda z: self.own(z) + self.other(graph.weighted_sum(z, weights))


Messages = ContextRelation | Convolution | Isomorphism | SampleAndAggregate


def build_messages(
    backbone: Backbone, inputs: int, channels: int, attributes: int, context: int
) -> Messages:
    """The messages of a backbone."""
    if backbone == "message":
        return ContextRelation(inputs, channels, attributes, context)
    plain: dict[str, type[Convolution | Isomorphism | SampleAndAggregate]] = {
        "gcn": Convolution,
        "gin": Isomorphism,
        "sage": SampleAndAggregate,
    }
    return plain[backbone](inputs, channels)
