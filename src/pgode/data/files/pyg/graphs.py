"""The edges of PyTorch Geometric as those of trajectories."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pgode.data.edges import Edges
from pgode.data.files.pyg.system import System, array_of
from pgode.data.labels.columns import Names
from pgode.runtime.errors import InputError

Ends = Int[np.ndarray, "2 edge"]
Attributes = Float[np.ndarray, "edge attribute"]


def edges_of_systems(
    systems: Sequence[System],
    clock: Float[np.ndarray, "system time"],
    names: Names | None,
    source: str,
    *,
    moved: bool,
) -> Edges:
    """Edges of all systems; a new graph starts at each snapshot whose edges differ.

    `names` are those of the attributes beyond the weight. `moved`: `clock` is not the graphs' own,
    so neither is the start that `to_pyg` wrote.
    """
    owners: list[int] = []
    starts: list[float] = []
    ends: list[Ends] = []
    attributes: list[Attributes] = []
    for k, system in enumerate(systems):
        for frame, graph in enumerate(system.graphs):
            found = _edges(graph, f"graph {frame} of system {k} of {source}")
            if frame and all(
                np.array_equal(new, old)
                for new, old in zip(found, (ends[-1], attributes[-1]), strict=True)
            ):
                continue
            start = None if moved or frame else getattr(graph, "graph_start", None)
            owners.append(k)
            starts.append(float(clock[k, frame] if start is None else array_of(start).item()))
            ends.append(found[0])
            attributes.append(found[1])
    widths = {each.shape[1] for each in attributes}
    if len(widths) > 1:
        raise InputError(
            f"the graphs of {source} have {' or '.join(map(str, sorted(widths)))} edge attributes "
            f"with the weight. Expected the same number in all of them. Give them all edge_attr."
        )
    stored = getattr(systems[0].first, "edge_attribute_names", None)
    given = stored if names is None else names
    more = [f"attribute{k}" for k in range(widths.pop() - 1)] if given is None else given
    joined = np.concatenate(ends, axis=1)
    return Edges(
        graph_system=np.array(owners),
        graph_start=np.array(starts),
        edge_graph=np.repeat(np.arange(len(ends)), [each.shape[1] for each in ends]),
        edge_receiver=joined[1],
        edge_sender=joined[0],
        edge_attributes=np.concatenate(attributes),
        attribute_names=("weight", *map(str, more)),
    )


def _edges(graph: Any, source: str) -> tuple[Ends, Attributes]:
    """(sender, receiver) and attributes, the weight first, sorted by receiver, then sender."""
    ends = np.zeros((2, 0), np.int64) if graph.edge_index is None else array_of(graph.edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2 or (ends.dtype.kind not in "iu" and ends.size):
        raise InputError(
            f"edge_index of {source} is {ends.dtype} of shape {ends.shape}. Expected whole numbers "
            f"of shape (2, edges): senders, then receivers. Correct it."
        )
    ends = ends.astype(np.int64)
    count = ends.shape[1]
    columns = {name: _columns(graph, name, count, source) for name in ("edge_weight", "edge_attr")}
    weight, rest = columns["edge_weight"], columns["edge_attr"]
    if weight is None and rest is not None and rest.shape[1] == 1:
        weight, rest = rest, None
    weight = np.ones((count, 1)) if weight is None else weight
    attributes = weight if rest is None else np.concatenate([weight, rest], axis=1)
    order = np.lexsort(ends)
    return ends[:, order], attributes[order]


def _columns(graph: Any, name: str, count: int, source: str) -> Attributes | None:
    values = getattr(graph, name, None)
    if values is None:
        return None
    array = array_of(values).astype(np.float64)
    if array.ndim not in (1, 2) or len(array) != count:
        raise InputError(
            f"{name} of {source} has shape {array.shape}, but edge_index has {count} edges. "
            f"Expected one row per edge. Correct it."
        )
    return array.reshape(count, -1) if count else array.reshape(0, *(array.shape[1:] or (1,)))
