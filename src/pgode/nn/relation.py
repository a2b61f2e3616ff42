"""The linear map of a pair [receiver, sender, edge] as a sum of three maps.

    W [x_i, x_j, e_ij] + b = A x_i + B x_j + C e_ij + b

The products with A and B are then per object, not per edge.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.graph import Graph


class _Ends(nn.Module):
    """A x_i + b (`receive`) and B x_j (`send`): the two ends of an edge."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.receive = nn.Linear(inputs, outputs)
        self.send = nn.Linear(inputs, outputs, bias=False)


class Relation(_Ends):
    """The map followed by relu and a sum over neighbours; nothing is stored per edge.

    The parameters of the edge part start uniform in +-edge_bound, 1 / sqrt(inputs) if not given.
    """

    def __init__(
        self, inputs: int, outputs: int, attributes: int, edge_bound: float | None = None
    ) -> None:
        super().__init__(inputs, outputs)
        self.edge = nn.Parameter(torch.empty(attributes, outputs))
        bound = inputs**-0.5 if edge_bound is None else edge_bound
        nn.init.uniform_(self.edge, -bound, bound)

    def neighbour_sum(
        self, x: Float[Tensor, "objects inputs"], graph: Graph
    ) -> Float[Tensor, "objects outputs"]:
        """sum_j relu(W [x_i, x_j, e_ij] + b), with e_ij the attributes of the graph's edges."""
        return graph.neighbour_sum(self.receive(x), self.send(x), self.edge)


class EdgeRelation(_Ends):
    """The map with one row per edge, for networks that need more than a sum over neighbours.

    e_ij is any vector per edge, such as [distance, attributes], or none (`edge_inputs` 0).
    """

    def __init__(self, inputs: int, outputs: int, edge_inputs: int = 0) -> None:
        super().__init__(inputs, outputs)
        self.edge = nn.Linear(edge_inputs, outputs, bias=False) if edge_inputs else None

    def forward(
        self,
        x: Float[Tensor, "objects inputs"],
        graph: Graph,
        e: Float[Tensor, "edges edge_inputs"] | None = None,
    ) -> Float[Tensor, "edges outputs"]:
        """W [x_i, x_j, e_ij] + b for every edge."""
        return self.add_ends(x, graph, self.edge_part(e))

    def edge_part(
        self, e: Float[Tensor, "edges edge_inputs"] | None
    ) -> Float[Tensor, "edges outputs"] | None:
        """C e_ij, which an ODE with constant e_ij computes once."""
        return None if self.edge is None or e is None else self.edge(e)

    def add_ends(
        self,
        x: Float[Tensor, "objects inputs"],
        graph: Graph,
        edge_part: Float[Tensor, "edges outputs"] | None,
    ) -> Float[Tensor, "edges outputs"]:
        """A x_i + B x_j + b, added to an edge part that was computed before."""
        ends = graph.at_receivers(self.receive(x)) + graph.at_senders(self.send(x))
        return ends if edge_part is None else ends.add_(edge_part)
