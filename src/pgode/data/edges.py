"""The interaction graphs of all systems as one flat list of edges (w_ij of Eq. 2).

Systems differ in their number of objects and a graph may change in time, so neither a dense
matrix nor one list per system fits. One flat list, with the graph each edge belongs to, holds
every case, is stored as it is, and is selected from without a loop over systems or edges.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pgode.runtime.errors import InputError


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of every graph of every system.

    Graph g belongs to system `graph_system[g]` and is in force from time `graph_start[g]` until
    that system's next graph. Edge k carries what object `edge_sender[k]` does to object
    `edge_receiver[k]` in graph `edge_graph[k]`. The first attribute is always the weight; an edge
    of weight zero is no edge.
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
        """Compress matrices whose row receives and whose column sends.

        `edges` is (system, object, object), or (system, time, object, object); then a graph
        starts at a system's first frame and at every frame that differs from the one before.
        Frames with NaN times are padding and are not looked at.
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

    def select(self, systems: Int[np.ndarray, " selected"]) -> "Edges":
        """Take the graphs of some systems, in that order; a system may be taken more than once."""
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
        """Keep the graphs in force at some moment from `first` to `last` of their system.

        A graph that starts later is dropped, not only unused: a window must not carry the
        interactions of its own future.
        """
        ends = np.full(len(self.graph_start), np.inf)
        same = self.graph_system[1:] == self.graph_system[:-1]
        ends[:-1][same] = self.graph_start[1:][same]
        kept = (ends > first[self.graph_system]) & (self.graph_start <= last[self.graph_system])
        taken = np.flatnonzero(kept)
        return self._take_graphs(taken, self.graph_system[taken])

    def permuted(self, place: Int[np.ndarray, "system object"]) -> "Edges":
        """Rename objects: object i of system s becomes object `place[s, i]`."""
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

    def checked(
        self,
        first_times: Float[np.ndarray, " system"],
        present: Bool[np.ndarray, "system object"],
        source: str,
    ) -> "Edges":
        """Return the same edges validated, in the stored types and order, zero weights left out."""
        names = tuple(str(name) for name in self.attribute_names)
        columns = (
            _integers("graph_system", self.graph_system, source),
            _integers("edge_graph", self.edge_graph, source),
            _integers("edge_receiver", self.edge_receiver, source),
            _integers("edge_sender", self.edge_sender, source),
        )
        graph_system, edge_graph, receiver, sender = columns
        start = np.asarray(self.graph_start, dtype=np.float64)
        attributes = np.asarray(self.edge_attributes, dtype=np.float64)
        if start.shape != graph_system.shape or not (
            len(edge_graph) == len(receiver) == len(sender)
            and attributes.shape == (len(edge_graph), len(names))
        ):
            raise InputError(
                f"the edges of {source} disagree in length: graph_system "
                f"{graph_system.shape}, graph_start {start.shape}, edge_graph {edge_graph.shape}, "
                f"edge_receiver {receiver.shape}, edge_sender {sender.shape}, edge_attributes "
                f"{attributes.shape} for the attributes {', '.join(names)}. Expected one entry per "
                f"graph in the first two and one per edge in the others. Give equal lengths."
            )
        if names[:1] != ("weight",) or len(set(names)) != len(names):
            raise InputError(
                f"the edge attributes of {source} are named {', '.join(names) or '(none)'}. "
                f'Expected different names of which the first is "weight". Put the weight first.'
            )
        graph_system, start, edge_graph = _checked_graphs(
            graph_system, start, edge_graph, first_times, source
        )
        _check_ends(graph_system, start, edge_graph, receiver, sender, present, source)
        _check_attributes(
            graph_system, start, edge_graph, receiver, sender, attributes, names, source
        )

        objects = present.shape[1]
        key = (edge_graph * objects + receiver) * objects + sender
        order = np.argsort(key, kind="stable") if (np.diff(key) < 0).any() else np.arange(len(key))
        order = order[attributes[order, 0] != 0]
        repeat = np.flatnonzero(np.diff(key[order]) == 0)
        if len(repeat):
            k = int(order[repeat[0]])
            raise InputError(
                f"{_edge(graph_system, start, edge_graph, receiver, sender, k)} in {source} is "
                f"given more than once. Expected each edge once. Add the weights up, or name a "
                f"second kind of interaction as another edge attribute."
            )
        return Edges(
            graph_system.astype(np.int32),
            start,
            edge_graph[order].astype(np.int32),
            receiver[order].astype(np.int32),
            sender[order].astype(np.int32),
            attributes[order],
            names,
        )


def _runs(
    sorted_ids: Int[np.ndarray, " entry"], count: int
) -> tuple[Int[np.ndarray, " count"], Int[np.ndarray, " count"]]:
    """Where the entries of each id start in a sorted list, and how many there are."""
    lengths = np.bincount(sorted_ids, minlength=count)
    return np.cumsum(lengths) - lengths, lengths


def _ranges(
    first: Int[np.ndarray, " run"], length: Int[np.ndarray, " run"]
) -> Int[np.ndarray, " entry"]:
    """All of first[k], first[k] + 1, ..., first[k] + length[k] - 1, one run after another."""
    before = np.cumsum(length) - length
    shift: Int[np.ndarray, " entry"] = np.repeat(first - before, length)
    return shift + np.arange(len(shift))


def _integers(name: str, values: Any, source: str) -> Int[np.ndarray, " entry"]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(
            f"{name} in {source} is {array.dtype} of shape {array.shape}. Expected a list of "
            f"whole numbers. Convert it to a one-dimensional integer array."
        )
    return array.astype(np.int64)


def _edge(
    graph_system: Int[np.ndarray, " graph"],
    start: Float[np.ndarray, " graph"],
    edge_graph: Int[np.ndarray, " edge"],
    receiver: Int[np.ndarray, " edge"],
    sender: Int[np.ndarray, " edge"],
    k: int,
) -> str:
    graph = edge_graph[k]
    return (
        f"system {graph_system[graph]}: the edge from object {sender[k]} to object {receiver[k]} "
        f"of the graph that starts at time {start[graph]:g}"
    )


def _checked_graphs(
    graph_system: Int[np.ndarray, " graph"],
    start: Float[np.ndarray, " graph"],
    edge_graph: Int[np.ndarray, " edge"],
    first_times: Float[np.ndarray, " system"],
    source: str,
) -> tuple[Int[np.ndarray, " graph"], Float[np.ndarray, " graph"], Int[np.ndarray, " edge"]]:
    systems, graphs = len(first_times), len(graph_system)
    for bad in np.flatnonzero((graph_system < 0) | (graph_system >= systems))[:1]:
        raise InputError(
            f"graph {bad} in {source} belongs to system {graph_system[bad]}. Expected a system "
            f"from 0 to {systems - 1}. Correct graph_system."
        )
    for bad in np.flatnonzero(~np.isfinite(start))[:1]:
        raise InputError(
            f"graph {bad} of system {graph_system[bad]} in {source} starts at time {start[bad]}. "
            f"Expected a finite time. Give the time of the first frame it holds for."
        )
    for bad in np.flatnonzero((edge_graph < 0) | (edge_graph >= graphs))[:1]:
        raise InputError(
            f"edge {bad} in {source} belongs to graph {edge_graph[bad]}. Expected a graph from 0 "
            f"to {graphs - 1}. Correct edge_graph."
        )
    order = np.lexsort((start, graph_system))
    place = np.empty(graphs, dtype=np.int64)
    place[order] = np.arange(graphs)
    graph_system, start = graph_system[order], start[order]
    for bad in np.flatnonzero((np.diff(graph_system) == 0) & (np.diff(start) == 0))[:1]:
        raise InputError(
            f"system {graph_system[bad]} in {source} has two graphs that start at time "
            f"{start[bad]:g}. Expected one graph at a time. Merge them or change a start."
        )
    earliest = np.full(systems, np.inf)
    np.minimum.at(earliest, graph_system, start)
    for bad in np.flatnonzero(earliest > first_times)[:1]:
        found = f"starts at time {earliest[bad]:g}" if np.isfinite(earliest[bad]) else "is missing"
        raise InputError(
            f"system {bad} in {source}: its first graph {found}, but its first frame is at time "
            f"{first_times[bad]:g}. Expected a graph in force from the first frame on (it may have "
            f"no edges). Give system {bad} a graph that starts there."
        )
    return graph_system, start, place[edge_graph]


def _check_ends(
    graph_system: Int[np.ndarray, " graph"],
    start: Float[np.ndarray, " graph"],
    edge_graph: Int[np.ndarray, " edge"],
    receiver: Int[np.ndarray, " edge"],
    sender: Int[np.ndarray, " edge"],
    present: Bool[np.ndarray, "system object"],
    source: str,
) -> None:
    counts = present.sum(axis=1)[graph_system[edge_graph]]
    low, high = np.minimum(receiver, sender), np.maximum(receiver, sender)
    for k in np.flatnonzero((low < 0) | (high >= counts))[:1]:
        where = _edge(graph_system, start, edge_graph, receiver, sender, int(k))
        wrong = int(low[k] if low[k] < 0 else high[k])
        problem = "is absent" if 0 <= wrong < present.shape[1] else "does not exist"
        raise InputError(
            f"{where} in {source} cannot be: object {wrong} {problem}. Expected objects from 0 to "
            f'{counts[k] - 1} there. Remove the edge, or correct its ends or the mask "present".'
        )
    for k in np.flatnonzero(receiver == sender)[:1]:
        where = _edge(graph_system, start, edge_graph, receiver, sender, int(k))
        raise InputError(
            f"{where} in {source} is a self edge. Expected edges between two different objects. "
            f"Remove it (in a dense matrix: set the diagonal to 0)."
        )


def _check_attributes(
    graph_system: Int[np.ndarray, " graph"],
    start: Float[np.ndarray, " graph"],
    edge_graph: Int[np.ndarray, " edge"],
    receiver: Int[np.ndarray, " edge"],
    sender: Int[np.ndarray, " edge"],
    attributes: Float[np.ndarray, "edge edge_attribute"],
    names: Sequence[str],
    source: str,
) -> None:
    for k, column in np.argwhere(~np.isfinite(attributes))[:1]:
        where = _edge(graph_system, start, edge_graph, receiver, sender, int(k))
        raise InputError(
            f'{where} in {source} has the attribute "{names[column]}" = '
            f"{attributes[k, column]}. Expected a finite number. Correct it or remove the edge."
        )
