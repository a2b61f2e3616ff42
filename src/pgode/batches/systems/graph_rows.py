"""Graphs of systems as compressed rows: the neighbours of every object of every graph."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.data.edges import Edges


@dataclass(frozen=True)
class GraphRows:
    """One row per object and graph, with the senders that act on the object."""

    first: Int[np.ndarray, " graphs+1"]
    """The row of the first object of each graph."""
    offsets: Int[np.ndarray, " rows+1"]
    senders: Int[np.ndarray, " edges"]
    attributes: Float[np.ndarray, "edges attributes"]
    weights: Float[np.ndarray, " edges"]

    @classmethod
    def of(
        cls, edges: Edges, objects: Int[np.ndarray, " graphs"], normaliser: Normaliser
    ) -> "GraphRows":
        """Rows of these graphs, which have so many objects, with scaled attributes."""
        first = np.concatenate([[0], np.cumsum(objects)]).astype(np.int64)
        rows = first[edges.edge_graph] + edges.edge_receiver
        offsets = np.zeros(int(first[-1]) + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=len(offsets) - 1), out=offsets[1:])
        return cls(
            first,
            offsets,
            edges.edge_sender,
            normaliser.attributes(edges.edge_attributes),
            np.ascontiguousarray(edges.edge_attributes[:, 0]),
        )

    def graph(self, rows: Int[np.ndarray, " objects"], first: Int[np.ndarray, " objects"]) -> Graph:
        """The graph of some rows; `first` is where the system of each object begins among them."""
        begin, count = self.offsets[rows], np.diff(self.offsets)[rows]
        receivers = np.repeat(np.arange(len(rows), dtype=np.int32), count)
        within = np.arange(len(receivers)) - np.repeat(np.cumsum(count) - count, count)
        edges = np.repeat(begin, count) + within
        senders = self.senders[edges] + first[receivers]
        return Graph.from_edges(receivers, senders, self.attributes[edges], len(rows))


@dataclass(frozen=True)
class GraphTimes:
    """When each graph of each system comes into force."""

    starts: Float[np.ndarray, " graph"]
    first: Int[np.ndarray, " system"]
    """The first graph of each system, and how many it has."""
    counts: Int[np.ndarray, " system"]

    @classmethod
    def of(cls, edges: Edges, systems: int) -> "GraphTimes":
        """Those of all graphs."""
        first = np.searchsorted(edges.graph_system, np.arange(systems))
        return cls(edges.graph_start, first, np.bincount(edges.graph_system, minlength=systems))

    def in_force(
        self, systems: Int[np.ndarray, " n"], times: Float[np.ndarray, "n time"]
    ) -> Int[np.ndarray, "n time"]:
        """The graph in force at some times of some systems: the last one that has started."""
        at = np.zeros(times.shape, np.int64)
        at += self.first[systems][:, None]
        for row in np.flatnonzero(self.counts[systems] > 1):
            begin, count = self.first[systems[row]], self.counts[systems[row]]
            started = np.searchsorted(self.starts[begin : begin + count], times[row], side="right")
            at[row] += np.clip(started - 1, 0, count - 1)
        return at
