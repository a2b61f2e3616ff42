"""The interaction graphs of all systems as one flat list of edges (w_ij of Eq. 2).

Systems differ in their number of objects and a graph may change in time, so neither a dense
matrix nor one list per system fits. One flat list, with the graph that each edge belongs to, covers
every case, is stored as it is, and needs no loop over systems or edges to select from.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from pgode.runtime.errors import InputError


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of every graph of every system.

    Graph g belongs to system `graph_system[g]` and is in force from time `graph_start[g]` until
    that system's next graph. Edge k is the action of object `edge_sender[k]` on object
    `edge_receiver[k]` in graph `edge_graph[k]`. The first attribute is always the weight; edges of
    weight zero do not exist.
    """

    graph_system: Int[np.ndarray, " graph"]
    graph_start: Float[np.ndarray, " graph"]
    edge_graph: Int[np.ndarray, " edge"]
    edge_receiver: Int[np.ndarray, " edge"]
    edge_sender: Int[np.ndarray, " edge"]
    edge_attributes: Float[np.ndarray, "edge edge_attribute"]
    attribute_names: tuple[str, ...] = ("weight",)

    @classmethod
    def from_dense(
        cls,
        edges: Shaped[np.ndarray, "..."],
        times: Float[np.ndarray, "..."],
        source: str = "the given arrays",
        objects: int | None = None,
    ) -> "Edges":
        """Compress matrices whose rows are receivers and whose columns are senders.

        `edges` is (system, object, object), or (system, time, object, object); then a graph
        starts at a system's first frame and at every frame that differs from the one before.
        Frames with NaN times are padding and are ignored.
        """
        dense = np.asarray(edges)
        if dense.ndim not in (3, 4) or dense.shape[-1] != dense.shape[-2]:
            raise InputError(
                f"edges in {source} has shape {dense.shape}. Expected (system, object, object) or "
                f"(system, time, object, object). Give one square matrix per system, or per system "
                f"and frame, with the receiving object as row and the sending one as column."
            )
        if dense.dtype.kind not in "biuf":
            raise InputError(
                f"edges in {source} holds {dense.dtype}. Expected numbers: the weight of each "
                f"edge, 0 where there is none. Convert the array before building."
            )
        clock = np.asarray(times, dtype=np.float64)
        if clock.ndim == 1:
            clock = np.broadcast_to(clock, (len(dense), len(clock)))
        size = dense.shape[-1] if objects is None else objects
        if dense.shape[:-1] != (*clock.shape[: dense.ndim - 2], size):
            raise InputError(
                f"edges in {source} has shape {dense.shape}, but there are {clock.shape[0]} "
                f"systems of {size} objects and {clock.shape[1]} frames. Expected one "
                f"matrix per system, or per system and frame. Make the arrays agree."
            )
        starts = np.zeros(clock.shape, dtype=bool)
        starts[:, :1] = True
        if dense.ndim == 4:
            starts[:, 1:] = (dense[:, 1:] != dense[:, :-1]).any(axis=(2, 3))
            starts &= np.isfinite(clock)
            system, frame = np.nonzero(starts)
            matrices = dense[system, frame]
        else:
            system, frame = np.nonzero(starts)
            matrices = dense
        graph, receiver, sender = np.nonzero(matrices)
        return cls(
            graph_system=system.astype(np.int32),
            graph_start=clock[system, frame],
            edge_graph=graph.astype(np.int32),
            edge_receiver=receiver.astype(np.int32),
            edge_sender=sender.astype(np.int32),
            edge_attributes=matrices[graph, receiver, sender].astype(np.float64)[:, None],
        )

    @property
    def number(self) -> int:
        """Number of edges of all graphs."""
        return len(self.edge_graph)

    def blocks(self) -> Iterator[tuple[int, "Edges"]]:
        """Graphs in order with the number of the first, some at a time where they are in a file."""
        yield 0, self

    def select(self, systems: Int[np.ndarray, " selected"]) -> "Edges":
        """The graphs of some systems, in that order; a system may be taken more than once."""
        count = int(self.graph_system.max(initial=-1)) + 1
        first, graphs = _runs(self.graph_system, max(count, int(systems.max(initial=-1)) + 1))
        taken = _ranges(first[systems], graphs[systems])
        owner = np.repeat(np.arange(len(systems), dtype=np.int32), graphs[systems])
        return self._take_graphs(taken, owner)

    def between(
        self,
        first: Float[np.ndarray, " system"],
        last: Float[np.ndarray, " system"],
    ) -> "Edges":
        """The graphs in force at some time from `first` to `last` of their system.

        A graph that starts later is dropped, not merely unused: a window must not contain the
        interactions of its future.
        """
        ends = np.full(len(self.graph_start), np.inf)
        same = self.graph_system[1:] == self.graph_system[:-1]
        ends[:-1][same] = self.graph_start[1:][same]
        kept = (ends > first[self.graph_system]) & (self.graph_start <= last[self.graph_system])
        taken = np.flatnonzero(kept)
        return self._take_graphs(taken, self.graph_system[taken])

    def permuted(self, place: Int[np.ndarray, "system object"]) -> "Edges":
        """Renumber the objects: object i of system s becomes object `place[s, i]`."""
        system = self.graph_system[self.edge_graph]
        receiver = place[system, self.edge_receiver].astype(np.int32)
        sender = place[system, self.edge_sender].astype(np.int32)
        order = np.lexsort((sender, receiver, self.edge_graph))
        return Edges(
            self.graph_system,
            self.graph_start,
            self.edge_graph[order],
            receiver[order],
            sender[order],
            self.edge_attributes[order],
            self.attribute_names,
        )

    def _take_graphs(
        self, graphs: Int[np.ndarray, " taken"], owner: Int[np.ndarray, " taken"]
    ) -> "Edges":
        first, count = _runs(self.edge_graph, len(self.graph_system))
        edges = _ranges(first[graphs], count[graphs])
        return Edges(
            owner.astype(np.int32),
            self.graph_start[graphs],
            np.repeat(np.arange(len(graphs), dtype=np.int32), count[graphs]),
            self.edge_receiver[edges],
            self.edge_sender[edges],
            self.edge_attributes[edges],
            self.attribute_names,
        )


def _runs(
    sorted_ids: Int[np.ndarray, " entry"], count: int
) -> tuple[Int[np.ndarray, " count"], Int[np.ndarray, " count"]]:
    """Start and number of the entries of each id in a sorted list."""
    lengths = np.bincount(sorted_ids, minlength=count)
    return np.cumsum(lengths) - lengths, lengths


def _ranges(
    first: Int[np.ndarray, " run"], length: Int[np.ndarray, " run"]
) -> Int[np.ndarray, " entry"]:
    """All of first[k], first[k] + 1, ..., first[k] + length[k] - 1, one run after another."""
    before = np.cumsum(length) - length
    shift: Int[np.ndarray, " entry"] = np.repeat(first - before, length)
    return shift + np.arange(len(shift))
