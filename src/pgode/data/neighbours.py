"""Neighbours within a cutoff, without testing every pair.

Objects are sorted into cells as wide as the cutoff, so that the neighbours of an object are in the
27 cells around it. Cells are found by binary search in the sorted list rather than in a grid of all
cells: memory grows with the number of objects, however far apart they are.
"""

from typing import Any

import numba
import numpy as np
from jaxtyping import Float, Int

from pgode.data.edges import Edges

LEAST_WIDTH = 1e-9
"""Least width of a cell relative to the extent of all objects: cell numbers must fit 64 bits."""


def pairs_within(
    positions: Float[np.ndarray, "objects axes"],
    cutoff: float,
    system: Int[np.ndarray, " objects"] | None = None,
) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    """(receivers, senders, distances) of all ordered pairs of one system nearer than `cutoff`.

    Sorted by receiver, then sender. Objects of different systems (`system`, sorted) are never
    neighbours. An object whose position is not finite has none.
    """
    points = np.zeros((len(positions), 3))
    points[:, : positions.shape[1]] = positions
    owner = np.zeros(len(points), np.int64) if system is None else system.astype(np.int64)
    known = np.flatnonzero(np.isfinite(points).all(1))
    if not len(known):
        nothing = np.empty(0, np.int32)
        return nothing, nothing, np.empty(0)
    points, owner = points[known], owner[known]
    low, high = points.min(0), points.max(0)
    width = max(cutoff, LEAST_WIDTH * float((high - low).max()))
    cell = ((points - low) / width).astype(np.int64) + 1
    sides = cell.max(0) + 2
    key = ((owner * sides[0] + cell[:, 0]) * sides[1] + cell[:, 1]) * sides[2] + cell[:, 2]
    order = np.argsort(key, kind="stable")
    rows = (points, key, order, key[order], sides, cutoff)
    offsets = np.zeros(len(points) + 1, np.int64)
    _count(*rows, offsets)
    np.cumsum(offsets, out=offsets)
    senders, distances = np.empty(offsets[-1], np.int64), np.empty(offsets[-1])
    _fill(*rows, offsets, senders, distances)
    receivers = np.repeat(np.arange(len(points)), np.diff(offsets))
    return known[receivers].astype(np.int32), known[senders].astype(np.int32), distances


def distance_edges(
    positions: Float[np.ndarray, "system time object axes"],
    times: Float[np.ndarray, "system time"],
    cutoff: float,
    every: int,
) -> Edges:
    """Graphs that join objects nearer than `cutoff`, updated each `every` frames.

    Edges have weight 1, and their length at that frame as a second attribute. Frames with NaN times
    are padding; objects with NaN positions have no neighbours.
    """
    system, frame = np.nonzero(np.isfinite(times[:, ::every]))
    frame = frame * every
    graphs, objects = len(system), positions.shape[2]
    points = positions[system, frame].reshape(graphs * objects, -1)
    owner = np.repeat(np.arange(graphs), objects)
    receivers, senders, distances = pairs_within(points, cutoff, owner)
    return Edges(
        graph_system=system.astype(np.int32),
        graph_start=times[system, frame],
        edge_graph=receivers // objects,
        edge_receiver=receivers % objects,
        edge_sender=senders % objects,
        edge_attributes=np.stack([np.ones(len(distances)), distances], 1),
        attribute_names=("weight", "distance"),
    )


def nearest_edges(
    positions: Float[np.ndarray, "system time object axes"],
    times: Float[np.ndarray, "system time"],
    count: int,
    every: int,
) -> Edges:
    """Graphs in which the `count` nearest objects act on each object, updated each `every` frames.

    Like `distance_edges` otherwise. The graph is directed: an object at the edge of a crowd has
    neighbours to which it is none. Of equally near objects the first are taken.
    """
    system, frame = np.nonzero(np.isfinite(times[:, ::every]))
    frame = frame * every
    graphs, objects = len(system), positions.shape[2]
    points = np.ascontiguousarray(positions[system, frame], dtype=np.float64)
    kept = min(count, objects - 1)
    senders = np.full((graphs, objects, kept), -1, np.int32)
    distances = np.zeros((graphs, objects, kept))
    if kept:
        _nearest(points, senders, distances)
    graph, receivers, place = np.nonzero(senders >= 0)
    found = (graph, receivers, place)
    return Edges(
        graph_system=system.astype(np.int32),
        graph_start=times[system, frame],
        edge_graph=graph.astype(np.int32),
        edge_receiver=receivers.astype(np.int32),
        edge_sender=senders[found],
        edge_attributes=np.stack([np.ones(len(graph)), distances[found]], 1),
        attribute_names=("weight", "distance"),
    )


_compiled = numba.njit(nogil=True, cache=True)


@_compiled
def _nearest(points: Any, senders: Any, distances: Any) -> None:
    """Insert each object into the sorted list of the nearest of each other one."""
    graphs, objects, axes = points.shape
    kept = senders.shape[2]
    for g in range(graphs):
        for i in range(objects):
            found = 0
            for j in range(objects):
                square = 0.0
                for axis in range(axes):
                    step = points[g, i, axis] - points[g, j, axis]
                    square += step * step
                if j == i or not np.isfinite(square):
                    continue
                if found == kept and square >= distances[g, i, kept - 1]:
                    continue
                place = min(found, kept - 1)
                while place > 0 and distances[g, i, place - 1] > square:
                    distances[g, i, place] = distances[g, i, place - 1]
                    senders[g, i, place] = senders[g, i, place - 1]
                    place -= 1
                distances[g, i, place] = square
                senders[g, i, place] = j
                found = min(found + 1, kept)
            for place in range(found):
                distances[g, i, place] = np.sqrt(distances[g, i, place])


@_compiled
def _square(points: Any, i: int, j: int) -> float:
    total = 0.0
    for axis in range(3):
        step = points[i, axis] - points[j, axis]
        total += step * step
    return total


@_compiled
def _count(
    points: Any, key: Any, order: Any, cells: Any, sides: Any, cutoff: float, counts: Any
) -> None:
    """counts[i + 1] = number of neighbours of object i."""
    for i in range(len(points)):
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                middle = key[i] + (dx * sides[1] + dy) * sides[2]
                first = np.searchsorted(cells, middle - 1)
                last = np.searchsorted(cells, middle + 1, side="right")
                for place in range(first, last):
                    j = order[place]
                    if j != i and _square(points, i, j) < cutoff * cutoff:
                        counts[i + 1] += 1


@_compiled
def _fill(
    points: Any,
    key: Any,
    order: Any,
    cells: Any,
    sides: Any,
    cutoff: float,
    offsets: Any,
    senders: Any,
    distances: Any,
) -> None:
    for i in range(len(points)):
        free = offsets[i]
        for dx in range(-1, 2):
            for dy in range(-1, 2):
                middle = key[i] + (dx * sides[1] + dy) * sides[2]
                first = np.searchsorted(cells, middle - 1)
                last = np.searchsorted(cells, middle + 1, side="right")
                for place in range(first, last):
                    j = order[place]
                    if j != i and _square(points, i, j) < cutoff * cutoff:
                        senders[free] = j
                        free += 1
        senders[offsets[i] : free].sort()
        for place in range(offsets[i], free):
            distances[place] = np.sqrt(_square(points, i, senders[place]))
