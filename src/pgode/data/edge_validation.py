"""Validation of edge lists; an error names the first graph or edge that is wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.data.edges import Edges
from pgode.data.labels.text import check_names_hold
from pgode.data.large.edges import StoredEdges
from pgode.runtime.errors import InputError


def validated_edges(
    edges: Edges,
    first_times: Float[np.ndarray, " system"],
    present: Bool[np.ndarray, "system object"],
    source: str,
) -> Edges:
    """The same edges in the stored types and order, without those of weight zero.

    `first_times` is the time of each system's first frame; `source` names the data in errors.
    """
    if isinstance(edges, StoredEdges):
        return _validated_blocks(edges, first_times, present, source)
    edges = _with_types(edges, source)
    _check_lengths(edges, source)
    _check_attribute_names(edges, source)
    edges = _with_sorted_graphs(edges, first_times, source)
    _check_ends(edges, present, source)
    _check_attributes(edges, source)
    return _with_sorted_edges(edges, present.shape[1], source)


def _validated_blocks(
    edges: StoredEdges,
    first_times: Float[np.ndarray, " system"],
    present: Bool[np.ndarray, "system object"],
    source: str,
) -> Edges:
    """The same for edges that stay in a file, block by block; in memory if they need sorting."""
    _check_attribute_names(edges, source)
    graphs = _with_types(edges.without_edges(), source)
    ordered = _with_sorted_graphs(graphs, first_times, source)
    sorted_already = np.array_equal(graphs.graph_start, ordered.graph_start) and np.array_equal(
        graphs.graph_system, ordered.graph_system
    )
    for first, block in edges.blocks():
        if not sorted_already:
            break
        # Numbered as in the whole file, so that errors name what a person finds there.
        whole = replace(
            _with_types(block, source),
            graph_system=graphs.graph_system,
            graph_start=graphs.graph_start,
            edge_graph=block.edge_graph.astype(np.int64) + first,
        )
        _check_ends(whole, present, source)
        _check_attributes(whole, source)
        kept = _with_sorted_edges(whole, present.shape[1], source)
        sorted_already = all(
            np.array_equal(getattr(kept, name), getattr(whole, name))
            for name in ("edge_receiver", "edge_sender", "edge_attributes")
        )
    if sorted_already:
        return edges
    return validated_edges(edges.loaded(), first_times, present, source)


def _check_attribute_names(edges: Edges, source: str) -> None:
    check_names_hold("edge_attributes", map(str, edges.attribute_names), source)
    if edges.attribute_names[:1] != ("weight",) or _repeats(edges.attribute_names):
        names = ", ".join(edges.attribute_names) or "(none)"
        raise InputError(
            f"the edge attributes of {source} are named {names}. "
            f'Expected different names of which the first is "weight". Put the weight first.'
        )


def _check_attributes(edges: Edges, source: str) -> None:
    for k, column in np.argwhere(~np.isfinite(edges.edge_attributes))[:1]:
        raise InputError(
            f"{_described(edges, k)} in {source} has the attribute "
            f'"{edges.attribute_names[column]}" = {edges.edge_attributes[k, column]}. Expected a '
            f"finite number. Correct it or remove the edge."
        )


def _with_types(edges: Edges, source: str) -> Edges:
    return Edges(
        graph_system=_integers("graph_system", edges.graph_system, source),
        graph_start=np.asarray(edges.graph_start, dtype=np.float64),
        edge_graph=_integers("edge_graph", edges.edge_graph, source),
        edge_receiver=_integers("edge_receiver", edges.edge_receiver, source),
        edge_sender=_integers("edge_sender", edges.edge_sender, source),
        edge_attributes=np.asarray(edges.edge_attributes, dtype=np.float64),
        attribute_names=tuple(str(name) for name in edges.attribute_names),
    )


def _integers(name: str, values: Any, source: str) -> Int[np.ndarray, " entry"]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InputError(
            f"{name} in {source} is {array.dtype} of shape {array.shape}. Expected a list of "
            f"whole numbers. Convert it to a one-dimensional integer array."
        )
    return array.astype(np.int64)


def _repeats(names: tuple[str, ...]) -> bool:
    return len(set(names)) != len(names)


def _check_lengths(edges: Edges, source: str) -> None:
    count, names = len(edges.edge_graph), edges.attribute_names
    if edges.graph_start.shape == edges.graph_system.shape and (
        count == len(edges.edge_receiver) == len(edges.edge_sender)
        and edges.edge_attributes.shape == (count, len(names))
    ):
        return
    fields = ("graph_system", "graph_start", "edge_graph", "edge_receiver", "edge_sender")
    shapes = ", ".join(f"{name} {getattr(edges, name).shape}" for name in fields)
    raise InputError(
        f"the edges of {source} disagree in length: {shapes}, edge_attributes "
        f"{edges.edge_attributes.shape} for the attributes {', '.join(names)}. Expected one entry "
        f"per graph in the first two and one per edge in the others. Give equal lengths."
    )


def _with_sorted_graphs(
    edges: Edges, first_times: Float[np.ndarray, " system"], source: str
) -> Edges:
    """Graphs by system, then start; every system has one in force from its first frame on."""
    system, start = edges.graph_system, edges.graph_start
    systems, graphs = len(first_times), len(system)
    for bad in np.flatnonzero((system < 0) | (system >= systems))[:1]:
        raise InputError(
            f"graph {bad} in {source} belongs to system {system[bad]}. Expected a system "
            f"from 0 to {systems - 1}. Correct graph_system."
        )
    for bad in np.flatnonzero(~np.isfinite(start))[:1]:
        raise InputError(
            f"graph {bad} of system {system[bad]} in {source} starts at time {start[bad]}. "
            f"Expected a finite time. Give the time of the first frame it holds for."
        )
    for bad in np.flatnonzero((edges.edge_graph < 0) | (edges.edge_graph >= graphs))[:1]:
        raise InputError(
            f"edge {bad} in {source} belongs to graph {edges.edge_graph[bad]}. Expected a graph "
            f"from 0 to {graphs - 1}. Correct edge_graph."
        )
    order = np.lexsort((start, system))
    place = np.empty(graphs, dtype=np.int64)
    place[order] = np.arange(graphs)
    system, start = system[order], start[order]
    for bad in np.flatnonzero((np.diff(system) == 0) & (np.diff(start) == 0))[:1]:
        raise InputError(
            f"system {system[bad]} in {source} has two graphs that start at time "
            f"{start[bad]:g}. Expected one graph at a time. Merge them or change a start."
        )
    earliest = np.full(systems, np.inf)
    np.minimum.at(earliest, system, start)
    for bad in np.flatnonzero(earliest > first_times)[:1]:
        problem = f"starts at time {earliest[bad]:g}" if earliest[bad] < np.inf else "is missing"
        raise InputError(
            f"system {bad} in {source}: its first graph {problem}, but its first frame is at time "
            f"{first_times[bad]:g}. Expected a graph in force from the first frame on (it may have "
            f"no edges). Give system {bad} a graph that starts at that time."
        )
    return replace(
        edges, graph_system=system, graph_start=start, edge_graph=place[edges.edge_graph]
    )


def _check_ends(edges: Edges, present: Bool[np.ndarray, "system object"], source: str) -> None:
    """Edges join two different objects that are present."""
    receiver, sender = edges.edge_receiver, edges.edge_sender
    counts = present.sum(axis=1)[edges.graph_system[edges.edge_graph]]
    low, high = np.minimum(receiver, sender), np.maximum(receiver, sender)
    for k in np.flatnonzero((low < 0) | (high >= counts))[:1]:
        wrong = int(low[k] if low[k] < 0 else high[k])
        problem = "is absent" if 0 <= wrong < present.shape[1] else "does not exist"
        raise InputError(
            f"{_described(edges, k)} in {source} is impossible: object {wrong} {problem}. Expected "
            f"objects from 0 to {counts[k] - 1}. Remove the edge, or correct its ends or the mask "
            f'"present".'
        )
    for k in np.flatnonzero(receiver == sender)[:1]:
        raise InputError(
            f"{_described(edges, k)} in {source} is a self edge. Expected edges between two "
            f"different objects. Remove it (in a dense matrix: set the diagonal to 0)."
        )


def _with_sorted_edges(edges: Edges, objects: int, source: str) -> Edges:
    """Edges by graph, receiver and sender, each of them once, in the stored types."""
    key = (edges.edge_graph * objects + edges.edge_receiver) * objects + edges.edge_sender
    order = np.argsort(key, kind="stable") if (np.diff(key) < 0).any() else np.arange(len(key))
    order = order[edges.edge_attributes[order, 0] != 0]
    for repeat in np.flatnonzero(np.diff(key[order]) == 0)[:1]:
        raise InputError(
            f"{_described(edges, order[repeat])} in {source} is given more than once. Expected "
            f"each edge once. Add the weights up, or name a second kind of interaction as another "
            f"edge attribute."
        )
    return Edges(
        edges.graph_system.astype(np.int32),
        edges.graph_start,
        edges.edge_graph[order].astype(np.int32),
        edges.edge_receiver[order].astype(np.int32),
        edges.edge_sender[order].astype(np.int32),
        edges.edge_attributes[order],
        edges.attribute_names,
    )


def _described(edges: Edges, edge: Any) -> str:
    graph = edges.edge_graph[edge]
    return (
        f"system {edges.graph_system[graph]}: the edge from object {edges.edge_sender[edge]} to "
        f"object {edges.edge_receiver[edge]} of the graph that starts at time "
        f"{edges.graph_start[graph]:g}"
    )
