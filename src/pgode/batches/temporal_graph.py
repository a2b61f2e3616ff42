"""The temporal graph of a batch (paper, Eq. 2): one node per observation.

Spatial edges join observations of two objects at the same frame, with the weight w_ij of the graph
in force at that frame. Temporal edges go from an object's next observation to the one before it
(A(i^t, i^t') = 1 for t' = t + 1). An object that was not observed at a frame has no node at that
frame, so missing values need no imputation.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numba
import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.graph import Graph


@dataclass(frozen=True)
class TemporalGraph:
    """Observations as nodes: the object and frame of each, and the edges between them."""

    graph: Graph
    temporal: Bool[Tensor, " edges"]
    node_object: Int[Tensor, " nodes"]
    node_frame: Int[Tensor, " nodes"]

    @cached_property
    def by_kind(self) -> Graph:
        """The edges with two columns for each node: [as a neighbour, as the same object]."""
        return self.graph.with_kinds(self.temporal)

    def to(
        self, device: torch.device | str | None = None, dtype: torch.dtype | None = None
    ) -> "TemporalGraph":
        """The same observations on another device or in another precision."""
        return replace(
            self,
            graph=self.graph.to(device, dtype),
            temporal=self.temporal.to(device),
            node_object=self.node_object.to(device),
            node_frame=self.node_frame.to(device),
        )


def build_temporal_graph(
    observed: Bool[np.ndarray, "objects frames"],
    rows: Int[np.ndarray, "objects frames"],
    first: Int[np.ndarray, " objects"],
    row_offsets: Int[np.ndarray, " rows+1"],
    senders: Int[np.ndarray, " edges"],
    weights: Float[np.ndarray, " edges"],
) -> TemporalGraph:
    """Join the observations of a batch.

    `rows[i, t]` is the compressed row with the neighbours of object i at frame t (as indices within
    its system); `first[i]` is the index in the batch of the first object of its system.
    """
    # Numbered frame by frame, so that spatial neighbours are close in memory.
    number = np.cumsum(observed.T.ravel()).reshape(observed.T.shape).T - 1
    node = np.ascontiguousarray(np.where(observed, number, -1), dtype=np.int32)
    nodes = int(observed.sum())
    offsets = np.zeros(nodes + 1, np.int64)
    structure = (node, rows, first, row_offsets, senders)
    _count_edges(*structure, offsets)
    np.cumsum(offsets, out=offsets)
    total = int(offsets[-1])
    columns, values = np.empty(total, np.int32), np.empty(total, np.float64)
    temporal = np.zeros(total, np.bool_)
    _fill_edges(*structure, weights, offsets, columns, values, temporal)
    node_frame, node_object = np.nonzero(observed.T)
    receivers = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(offsets))
    return TemporalGraph(
        graph=Graph.from_edges(receivers, columns, np.stack([values, temporal], 1), nodes),
        temporal=torch.from_numpy(temporal),
        node_object=torch.from_numpy(node_object),
        node_frame=torch.from_numpy(node_frame),
    )


_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _next_observed(node: Any, i: int, t: int) -> int:
    for later in range(t + 1, node.shape[1]):
        if node[i, later] >= 0:
            return int(node[i, later])
    return -1


@_compiled
def _count_edges(
    node: Any, rows: Any, first: Any, row_offsets: Any, senders: Any, counts: Any
) -> None:
    """counts[n + 1] = number of edges into node n."""
    for i in range(node.shape[0]):
        for t in range(node.shape[1]):
            n = node[i, t]
            if n < 0:
                continue
            for e in range(row_offsets[rows[i, t]], row_offsets[rows[i, t] + 1]):
                if node[first[i] + senders[e], t] >= 0:
                    counts[n + 1] += 1
            if _next_observed(node, i, t) >= 0:
                counts[n + 1] += 1


@_compiled
def _fill_edges(
    node: Any,
    rows: Any,
    first: Any,
    row_offsets: Any,
    senders: Any,
    weights: Any,
    offsets: Any,
    columns: Any,
    values: Any,
    temporal: Any,
) -> None:
    """Write each node's neighbours: its spatial ones, then its next observation."""
    for i in range(node.shape[0]):
        for t in range(node.shape[1]):
            n = node[i, t]
            if n < 0:
                continue
            place = offsets[n]
            for e in range(row_offsets[rows[i, t]], row_offsets[rows[i, t] + 1]):
                other = node[first[i] + senders[e], t]
                if other >= 0:
                    columns[place] = other
                    values[place] = weights[e]
                    place += 1
            following = _next_observed(node, i, t)
            if following >= 0:
                columns[place] = following
                values[place] = 1.0
                temporal[place] = True
