"""The graph as a plain list of edges, for programs that are recorded instead of run.

`Graph` sorts and compresses its rows in numpy, and its operators call compiled kernels: both need
numbers, and a program that is being exported has only shapes. Here every operation is a few torch
operations whose sizes stay symbolic, so that one exported program serves graphs of any size.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.graph import Graph, NeighbourSum


@dataclass(frozen=True)
class EdgeList(Graph):
    """Edges in any order, with their receivers; there are no compressed rows."""

    into: Int[Tensor, " edges"]
    """The receiver of each edge."""
    row: Float[Tensor, " rows"]
    """Zeros, one for each row and column. A tensor: loops that are recorded take no number."""

    @classmethod
    def of(
        cls,
        receivers: Int[Tensor, " edges"],
        senders: Int[Tensor, " edges"],
        attributes: Float[Tensor, "edges attributes"],
        nodes: int,
    ) -> "EdgeList":
        """A graph between `nodes` objects."""
        none = senders.new_empty(0)
        zeros = attributes.new_zeros(nodes)
        return cls(none, senders, attributes, none, none, none, receivers, zeros)

    @classmethod
    def all_pairs(
        cls, system: Int[Tensor, " objects"], dtype: torch.dtype = torch.float32
    ) -> "EdgeList":
        """Every ordered pair of different objects of the same system, sorted, with weight 1."""
        number = torch.arange(system.shape[0], device=system.device)
        joined = (system.unsqueeze(1) == system) & (number.unsqueeze(1) != number)
        receivers, senders = joined.nonzero().unbind(1)
        weights = torch.ones_like(senders, dtype=dtype).unsqueeze(1)
        return cls.of(receivers, senders, weights, system.shape[0])

    @property
    def rows(self) -> int:
        """Number of receivers."""
        return self.row.shape[0]

    @property
    def columns(self) -> int:
        """Number of senders."""
        return self.row.shape[0]

    @property
    def degree(self) -> Float[Tensor, " rows"]:
        """Number of neighbours of each receiver."""
        return self._sum(torch.ones_like(self.attributes[:, :1]))[:, 0]

    @property
    def receivers(self) -> Int[Tensor, " edges"]:
        """The receiver of each edge."""
        return self.into

    def reversed(self) -> "EdgeList":
        """The graph with all its edges reversed."""
        return replace(self, senders=self.into, into=self.senders)

    def with_kinds(self, second: Bool[Tensor, " edges"]) -> "EdgeList":
        """The same edges; those marked `second` come from a second row of values per sender."""
        return replace(self, senders=self.senders + self.columns * second.to(self.senders.dtype))

    def neighbour_sum(
        self,
        receive: Float[Tensor, "rows channels"],
        send: Float[Tensor, "columns channels"],
        edge: Float[Tensor, "attributes channels"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j relu(receive_i + send_j + attributes_ij edge)."""
        return self.neighbour_sums(edge)(receive, send)

    def neighbour_sums(self, edge: Float[Tensor, "attributes channels"]) -> NeighbourSum:
        """The same; what depends on the edges alone is computed once."""
        given, degree = self.attributes @ edge, self.degree.unsqueeze(1)

        def total(receive: Tensor, send: Tensor) -> Tensor:
            # relu(a + b) = max(b, -a) + a saves one pass over all edges.
            sent = send.index_select(0, self.senders) + given
            kept = torch.maximum(sent, (-receive).index_select(0, self.into))
            return self._sum(kept) + degree * receive

        return total

    def weighted_sum(
        self, send: Float[Tensor, "columns channels"], weights: Float[Tensor, " edges"]
    ) -> Float[Tensor, "rows channels"]:
        """sum_j weights_ij send_j."""
        return self._sum(weights.unsqueeze(1) * send.index_select(0, self.senders))

    def attend(
        self,
        query: Float[Tensor, "rows width"],
        key: Float[Tensor, "columns width"],
        value: Float[Tensor, "columns channels"],
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j weights_ij (query_i . key_j) value_j."""
        products = query.index_select(0, self.into) * key.index_select(0, self.senders)
        scores = products.sum(1) * weights
        return self._sum(scores.unsqueeze(1) * value.index_select(0, self.senders))

    def softmax_attend(
        self,
        query: Float[Tensor, "rows width"],
        key: Float[Tensor, "columns width"],
        value: Float[Tensor, "columns channels"],
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j a_ij weights_ij value_j with a_ij = softmax_j(query_i . key_j)."""
        products = query.index_select(0, self.into) * key.index_select(0, self.senders)
        scores = products.sum(1)
        lowest = torch.full_like(self.row.to(scores.dtype), -torch.inf)
        largest = lowest.scatter_reduce(0, self.into, scores.detach(), "amax")
        exponentials = torch.exp(scores - largest.gather(0, self.into)).unsqueeze(1)
        shares = exponentials / self._sum(exponentials).index_select(0, self.into)
        sent = weights.unsqueeze(1) * value.index_select(0, self.senders)
        return self._sum(shares * sent)

    def at_receivers(self, x: Float[Tensor, "rows channels"]) -> Float[Tensor, "edges channels"]:
        """x_i for every edge j -> i."""
        return x.index_select(0, self.into)

    def at_senders(self, x: Float[Tensor, "columns channels"]) -> Float[Tensor, "edges channels"]:
        """x_j for every edge j -> i."""
        return x.index_select(0, self.senders)

    def edge_sum(self, values: Float[Tensor, "edges channels"]) -> Float[Tensor, "rows channels"]:
        """The sum of values given per edge, over each receiver's edges."""
        return self._sum(values)

    def _sum(self, values: Float[Tensor, "edges channels"]) -> Float[Tensor, "rows channels"]:
        out = self.row.unsqueeze(1).expand(-1, values.shape[1]).to(values.dtype)
        return out.index_add(0, self.into, values)
