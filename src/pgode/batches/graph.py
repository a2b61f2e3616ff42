"""The graph type of all models, and its operations: sums over the neighbours of each row.

Objects of all systems in a batch are in one list, so a batch is one graph. Rows are stored
compressed (`offsets`, `senders`), with the reversed list for gradients. Each operation is a torch
operator with a numba kernel on the CPU and plain torch on other devices.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pgode.batches import kernels, operators

NeighbourSum = Callable[
    [Float[Tensor, "rows channels"], Float[Tensor, "columns channels"]],
    Float[Tensor, "rows channels"],
]
"""From `receive` and `send` of `Graph.neighbour_sum` to its sums."""


@dataclass(frozen=True)
class Graph:
    """Directed edges sender -> receiver, in compressed rows of receivers.

    `attributes[e, 0]` is the weight w_ij of the paper's Eq. 2; further columns (a distance) depend
    on the data. Rows (receivers) and columns (senders) may be different sets.
    """

    offsets: Int[Tensor, " rows+1"]
    senders: Int[Tensor, " edges"]
    attributes: Float[Tensor, "edges attributes"]
    reverse_offsets: Int[Tensor, " columns+1"]
    reverse_receivers: Int[Tensor, " edges"]
    reverse_edges: Int[Tensor, " edges"]

    @classmethod
    def from_edges(
        cls,
        receivers: Int[np.ndarray, " edges"],
        senders: Int[np.ndarray, " edges"],
        attributes: Float[np.ndarray, "edges attributes"],
        rows: int,
        columns: int | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> "Graph":
        """Compress a list of edges, after sorting it by receiver if needed."""
        columns = rows if columns is None else columns
        if len(receivers) and np.any(np.diff(receivers) < 0):
            order = np.argsort(receivers, kind="stable")
            receivers, senders, attributes = receivers[order], senders[order], attributes[order]
        reverse_edges = np.argsort(senders, kind="stable").astype(np.int32)
        return cls(
            offsets=torch.from_numpy(_offsets(receivers, rows)),
            senders=torch.from_numpy(senders.astype(np.int32)),
            attributes=torch.from_numpy(np.ascontiguousarray(attributes)).to(dtype),
            reverse_offsets=torch.from_numpy(_offsets(senders, columns)),
            reverse_receivers=torch.from_numpy(receivers.astype(np.int32)[reverse_edges]),
            reverse_edges=torch.from_numpy(reverse_edges),
        )

    @classmethod
    def complete(
        cls, system: Int[Tensor, " objects"], dtype: torch.dtype = torch.float32
    ) -> "Graph":
        """Every ordered pair of different objects of the same system, with weight 1.

        `system` is the system of each object; objects of one system are adjacent.
        """
        if torch.compiler.is_exporting():
            from pgode.batches.edge_list import EdgeList

            return EdgeList.all_pairs(system, dtype)
        owner = system.numpy(force=True)
        counts = np.bincount(owner)[owner]
        first = np.searchsorted(owner, owner)
        receivers = np.repeat(np.arange(len(owner)), counts)
        within = np.arange(len(receivers)) - np.repeat(np.cumsum(counts) - counts, counts)
        senders = first[receivers] + within
        other = receivers != senders
        receivers, senders = receivers[other], senders[other]
        pairs = cls.from_edges(receivers, senders, np.ones((len(senders), 1)), len(owner))
        return pairs.to(system.device, dtype)

    @property
    def rows(self) -> int:
        """Number of receivers."""
        return self.offsets.shape[0] - 1

    @property
    def columns(self) -> int:
        """Number of senders."""
        return self.reverse_offsets.shape[0] - 1

    @property
    def edges(self) -> int:
        """Number of edges."""
        return self.senders.shape[0]

    @property
    def weights(self) -> Float[Tensor, " edges"]:
        """w_ij of Eq. 2."""
        return self.attributes[:, 0].contiguous()

    @property
    def degree(self) -> Float[Tensor, " rows"]:
        """Number of neighbours of each receiver."""
        return self.offsets.diff().to(self.attributes.dtype)

    @property
    def receivers(self) -> Int[Tensor, " edges"]:
        """The receiver of each edge."""
        return operators.row_of_edge(self.offsets, self.edges)

    @cached_property
    def _order(self) -> Int[Tensor, " visits"]:
        """The order in which kernels take the rows; empty where it is that of the list."""
        device = self.senders.device
        if device.type != "cpu" or self.rows != self.columns or self.rows < kernels.SCATTERED:
            return torch.empty(0, dtype=torch.int32, device=device)
        return torch.from_numpy(kernels.clustered(*kernels.arrays(self.offsets, self.senders)))

    @cached_property
    def rows_of_senders(self) -> list[Tensor]:
        """(offsets, senders, edge numbers, order): each receiver's neighbours, for operators."""
        numbers = torch.arange(self.edges, dtype=torch.int32, device=self.senders.device)
        return [self.offsets, self.senders, numbers, self._order]

    @cached_property
    def rows_of_receivers(self) -> list[Tensor]:
        """The same edges reversed: the receivers of each sender."""
        return [self.reverse_offsets, self.reverse_receivers, self.reverse_edges, self._order]

    @cached_property
    def arrays(self) -> list[np.ndarray]:
        """Offsets, order, senders and attributes, as every stage of a forecast needs them."""
        return kernels.arrays(self.offsets, self._order, self.senders, self.attributes)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> "Graph":
        """The same graph on another device, or with attributes of another precision."""
        indices = ("offsets", "senders", "reverse_offsets", "reverse_receivers", "reverse_edges")
        moved = {name: getattr(self, name).to(device) for name in indices}
        return replace(self, attributes=self.attributes.to(device=device, dtype=dtype), **moved)

    def reversed(self) -> "Graph":
        """The graph with all its edges reversed."""
        order = self.reverse_edges.long()
        return replace(
            self,
            offsets=self.reverse_offsets,
            senders=self.reverse_receivers,
            attributes=self.attributes[order],
            reverse_offsets=self.offsets,
            reverse_receivers=self.senders,
            reverse_edges=order.argsort().to(self.reverse_edges.dtype),
        )

    def with_kinds(self, second: Bool[Tensor, " edges"]) -> "Graph":
        """The same edges from twice as many columns; those marked `second` from the second half.

        A sender then has two rows of values, one for each kind of edge.
        """
        later = second[self.reverse_edges.long()]
        parts = (~later, later)
        into, numbers = self.reverse_receivers, self.reverse_edges
        column = operators.row_of_edge(self.reverse_offsets, self.edges) + self.columns * later
        counts = torch.bincount(column, minlength=2 * self.columns)
        return replace(
            self,
            senders=self.senders + self.columns * second.to(self.senders.dtype),
            reverse_offsets=nn.functional.pad(counts.cumsum(0), (1, 0)).to(torch.int32),
            reverse_receivers=torch.cat([into[part] for part in parts]),
            reverse_edges=torch.cat([numbers[part] for part in parts]),
        )

    def neighbour_sum(
        self,
        receive: Float[Tensor, "rows channels"],
        send: Float[Tensor, "columns channels"],
        edge: Float[Tensor, "attributes channels"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j relu(receive_i + send_j + attributes_ij edge): Eq. 9 with its linear map split."""
        if kernels.only_numbers(receive, send, edge, self.attributes):
            return kernels.neighbour_sum_now(self.arrays, receive, send, edge)
        out: Tensor = operators.neighbour_sum(
            self.rows_of_senders, self.rows_of_receivers, self.attributes, receive, send, edge
        )
        return out

    def neighbour_sums(self, edge: Float[Tensor, "attributes channels"]) -> NeighbourSum:
        """`neighbour_sum` with one edge part, for many values of the two others."""
        return lambda receive, send: self.neighbour_sum(receive, send, edge)

    def weighted_sum(
        self, send: Float[Tensor, "columns channels"], weights: Float[Tensor, " edges"]
    ) -> Float[Tensor, "rows channels"]:
        """sum_j weights_ij send_j; the weights are constants."""
        out: Tensor = operators.weighted_sum(
            self.rows_of_senders, self.rows_of_receivers, weights, send
        )
        return out

    def attend(
        self,
        query: Float[Tensor, "rows width"],
        key: Float[Tensor, "columns width"],
        value: Float[Tensor, "columns channels"],
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j weights_ij (query_i . key_j) value_j: the attention of Eq. 3-4, without softmax."""
        out: Tensor = operators.attend(
            self.rows_of_senders, self.rows_of_receivers, weights, query, key, value
        )
        return out

    def softmax_attend(
        self,
        query: Float[Tensor, "rows width"],
        key: Float[Tensor, "columns width"],
        value: Float[Tensor, "columns channels"],
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "rows channels"]:
        """sum_j a_ij weights_ij value_j with a_ij = softmax_j(query_i . key_j)."""
        out: Tensor = operators.softmax_attend(
            self.rows_of_senders, self.rows_of_receivers, weights, query, key, value
        )[0]
        return out

    def at_receivers(self, x: Float[Tensor, "rows channels"]) -> Float[Tensor, "edges channels"]:
        """x_i for every edge j -> i; its gradient is a sum over rows, not a scatter."""
        out: Tensor = operators.spread(self.rows_of_senders, x)
        return out

    def at_senders(self, x: Float[Tensor, "columns channels"]) -> Float[Tensor, "edges channels"]:
        """x_j for every edge j -> i."""
        out: Tensor = operators.spread(self.rows_of_receivers, x)
        return out

    def edge_sum(self, values: Float[Tensor, "edges channels"]) -> Float[Tensor, "rows channels"]:
        """The sum of values given per edge, over each receiver's edges.

        For sums that `neighbour_sum` and `attend` cannot express; those store nothing per edge.
        """
        out: Tensor = operators.edge_sum(self.rows_of_senders, values)
        return out


def _offsets(rows_of_edges: Int[np.ndarray, " edges"], rows: int) -> Int[np.ndarray, " rows+1"]:
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(rows_of_edges, minlength=rows), out=offsets[1:])
    return offsets
