"""Graphs whose edges stay in a file; which edges each graph has is known in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Shaped

from pgode.data.edges import Edges
from pgode.data.large.stored import FEWER, block_bytes
from pgode.runtime.memory import refuse_beyond_memory

COLUMNS = ("edge_graph", "edge_receiver", "edge_sender", "edge_attributes")
Reader = Callable[[str, Sequence[int], Sequence[int]], Shaped[np.ndarray, "..."]]
"""The entries of a column of the file from some numbers to before others, one run after another."""


class StoredEdges(Edges):
    """Edges that are read graph by graph; selecting graphs reads nothing.

    The file holds them as `pgode.data.edge_validation` sorts them: by graph, receiver and sender.
    """

    def __init__(
        self,
        reader: Reader,
        graph_system: Int[np.ndarray, " graph"],
        graph_start: Float[np.ndarray, " graph"],
        first: Int[np.ndarray, " graph"],
        count: Int[np.ndarray, " graph"],
        attribute_names: tuple[str, ...],
    ) -> None:
        fields = {
            "reader": reader,
            "graph_system": graph_system,
            "graph_start": graph_start,
            "first": first,
            "count": count,
            "attribute_names": attribute_names,
        }
        self.__dict__.update(fields)
        self.reader: Reader
        self.first: Int[np.ndarray, " graph"]
        self.count: Int[np.ndarray, " graph"]

    @property
    def number(self) -> int:
        """Number of edges."""
        return int(self.count.sum())

    @property
    def nbytes(self) -> int:
        """Bytes that the edges take in memory."""
        return self.number * (12 + 8 * len(self.attribute_names))

    @property
    def edge_graph(self) -> Int[np.ndarray, " edge"]:
        """The graph of each edge."""
        return self.loaded().edge_graph

    @property
    def edge_receiver(self) -> Int[np.ndarray, " edge"]:
        """The receiver of each edge."""
        return self.loaded().edge_receiver

    @property
    def edge_sender(self) -> Int[np.ndarray, " edge"]:
        """The sender of each edge."""
        return self.loaded().edge_sender

    @property
    def edge_attributes(self) -> Float[np.ndarray, "edge edge_attribute"]:
        """The attributes of each edge."""
        return self.loaded().edge_attributes

    def loaded(self) -> Edges:
        """All edges in memory, if they fit."""
        refuse_beyond_memory(2 * self.nbytes, "reading all edges at once", FEWER)
        return self.take(np.arange(len(self.graph_system)))

    def without_edges(self) -> Edges:
        """The graphs alone."""
        none = np.empty(0, np.int32)
        attributes = np.empty((0, len(self.attribute_names)))
        graphs = (self.graph_system, self.graph_start)
        return Edges(*graphs, none, none, none, attributes, self.attribute_names)

    def take(self, graphs: Int[np.ndarray, " taken"]) -> Edges:
        """Some graphs in the given order, in memory, numbered from 0 on."""
        first, count = self.first[graphs], self.count[graphs]
        total = int(count.sum())
        # Graphs that follow each other in the file are read together.
        joined = first[1:] == first[:-1] + count[:-1]
        begins = [0, *(np.flatnonzero(~joined) + 1).tolist()] if len(graphs) else []
        ends = [begin - 1 for begin in [*begins[1:], len(graphs)]] if begins else []
        runs = first[begins].tolist(), (first[ends] + count[ends]).tolist()
        receiver, sender, attributes = (self.reader(name, *runs) for name in COLUMNS[1:])
        return Edges(
            self.graph_system[graphs],
            self.graph_start[graphs],
            np.repeat(np.arange(len(graphs), dtype=np.int32), count),
            receiver.astype(np.int32, copy=False),
            sender.astype(np.int32, copy=False),
            attributes.astype(np.float64, copy=False).reshape(total, len(self.attribute_names)),
            self.attribute_names,
        )

    def blocks(self) -> Iterator[tuple[int, Edges]]:
        """All graphs in order, some at a time, with the number of the first."""
        size = self.count * (12 + 8 * len(self.attribute_names)) + 20
        number = np.cumsum(size) // block_bytes()
        cuts = np.flatnonzero(np.diff(number, prepend=-1))
        for begin, end in zip(cuts, [*cuts[1:], len(size)], strict=True):
            yield int(begin), self.take(np.arange(begin, end))

    def column(self, name: str) -> "EdgeColumn":
        """One column for a dataset."""
        return EdgeColumn(self, name)

    def permuted(self, place: Int[np.ndarray, "system object"]) -> Edges:
        """Renumber the objects, in memory."""
        return self.loaded().permuted(place)

    def _take_graphs(
        self, graphs: Int[np.ndarray, " taken"], owner: Int[np.ndarray, " taken"]
    ) -> Edges:
        return StoredEdges(
            self.reader,
            owner.astype(np.int32),
            self.graph_start[graphs],
            self.first[graphs],
            self.count[graphs],
            self.attribute_names,
        )


@dataclass(frozen=True, eq=False)
class EdgeColumn:
    """A column of stored edges, as a variable of a dataset."""

    __array_ufunc__ = None

    edges: StoredEdges
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Edges, and attributes if it holds them."""
        wide = self.name == "edge_attributes"
        return (self.edges.number, *((len(self.edges.attribute_names),) if wide else ()))

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values in memory."""
        return np.dtype(np.float64 if self.name == "edge_attributes" else np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes that the values take in memory."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __deepcopy__(self, memo: Any) -> "EdgeColumn":
        return self

    def __array_function__(self, *call: Any) -> Any:
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = np.asarray(getattr(self.edges.loaded(), self.name))
        return values if dtype is None else values.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def pieces(self) -> Iterator[Shaped[np.ndarray, "..."]]:
        """All values in order, in blocks."""
        for first, block in self.edges.blocks():
            values = getattr(block, self.name)
            yield values + np.int32(first) if self.name == "edge_graph" else values


def graph_ranges(
    reader: Reader, edges: int, graphs: int
) -> tuple[Int[np.ndarray, " graph"], Int[np.ndarray, " graph"]] | None:
    """First edge and number of edges of each graph in the file; None if they are not in order."""
    count = np.zeros(graphs, np.int64)
    step, last = max(block_bytes() // 8, 1), 0
    for low in range(0, edges, step):
        graph = reader("edge_graph", [low], [min(low + step, edges)]).astype(np.int64)
        if graph[0] < last or (np.diff(graph) < 0).any() or graph[-1] >= graphs:
            return None
        last = int(graph[-1])
        count += np.bincount(graph, minlength=graphs) if graphs < step else _counts(graph, graphs)
    return np.cumsum(count) - count, count


def _counts(graph: Int[np.ndarray, " edge"], graphs: int) -> Int[np.ndarray, " graph"]:
    count = np.zeros(graphs, np.int64)
    found, number = np.unique(graph, return_counts=True)
    count[found] = number
    return count
