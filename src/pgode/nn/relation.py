"""The linear map of a pair: receiver, sender and edge, each mapped by itself and added."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.graph import Graph


class Relation(nn.Module):
    """W [x_i, x_j, e_ij] + b, with W split into a receiver, a sender and an edge part.

    Every matrix product is then per object. `neighbour_sum` adds relu of it over the neighbours
    without storing anything per edge; `forward` gives it for every edge, for what needs more than
    a sum. The parameters of the edge part start uniform in +-edge_bound, 1 / sqrt(inputs) if not
    given.
    """

    def __init__(
        self, inputs: int, outputs: int, attributes: int, edge_bound: float | None = None
    ) -> None:
        super().__init__()
        self.receive = nn.Linear(inputs, outputs)
        self.send = nn.Linear(inputs, outputs, bias=False)
        self.edge = nn.Parameter(torch.empty(attributes, outputs))
        bound = inputs**-0.5 if edge_bound is None else edge_bound
        nn.init.uniform_(self.edge, -bound, bound)

    def neighbour_sum(
        self, x: Float[Tensor, "objects inputs"], graph: Graph
    ) -> Float[Tensor, "objects outputs"]:
        """sum_j relu(W [x_i, x_j, e_ij] + b), with e_ij the attributes of the graph's edges."""
        return graph.neighbour_sum(self.receive(x), self.send(x), self.edge)
