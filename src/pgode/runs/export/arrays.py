"""Windows of a data set as the plain arrays that an exported forecast takes."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int

from pgode.data.trajectories import Trajectories
from pgode.runs.export.signature import Signature

Arrays = dict[str, np.ndarray]


def observed_arrays(data: Trajectories, systems: Sequence[int], signature: Signature) -> Arrays:
    """The first observed frames of some systems, in the units of the data, one after another."""
    condition, counts = signature.condition, data.n_objects[list(systems)]
    firsts = np.cumsum(counts) - counts
    parts = [
        _system(data, system, int(first), signature)
        for system, first in zip(systems, firsts, strict=True)
    ]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    joined["times"] = data.times[list(systems), :condition].astype(np.float64)
    joined["system"] = np.repeat(np.arange(len(counts)), counts)
    return {
        each.name: np.ascontiguousarray(joined[each.name], each.dtype) for each in signature.arrays
    }


def changes_within(data: Trajectories) -> bool:
    """Whether any system of the data has more than one graph."""
    return len(data.edges.graph_system) > data.systems


def _system(data: Trajectories, system: int, first: int, signature: Signature) -> Arrays:
    """What one system adds; `first` is the number of its first object among those of all."""
    objects, condition = int(data.n_objects[system]), signature.condition
    frames = condition + signature.until
    states = np.array(data.states[system, :objects, :condition], np.float64)
    states[~data.observed[system, :objects, :condition]] = np.nan
    # Frames beyond the end of the data have the inputs of its last.
    steps = np.minimum(np.arange(frames), int(data.n_frames[system]) - 1)
    found = {
        "states": states,
        "constants": data.constants[system, :objects],
        "inputs": data.inputs[system, :objects][:, steps],
        "group": data.dataset["group"].values[system, :objects],
    }
    return {**found, **_edges(data, system, first, condition)}


def _edges(data: Trajectories, system: int, first: int, condition: int) -> Arrays:
    """All edges that are there at some observed frame, and the frames at which they are."""
    edges = data.edges
    graphs = np.flatnonzero(edges.graph_system == system)
    times = data.times[system, :condition]
    in_force = _in_force(edges.graph_start[graphs], times)
    parts = []
    for number in np.unique(in_force):
        frames = np.flatnonzero(in_force == number)
        rows = np.flatnonzero(edges.edge_graph == graphs[number])
        parts.append(
            {
                "senders": first + edges.edge_sender[rows],
                "receivers": first + edges.edge_receiver[rows],
                "edge_attributes": edges.edge_attributes[rows],
                "edge_begin": np.full(len(rows), frames[0]),
                "edge_end": np.full(len(rows), frames[-1] + 1),
            }
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _in_force(starts: np.ndarray, times: np.ndarray) -> Int[np.ndarray, " condition"]:
    """The graph at each time: the last that has started."""
    return np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(starts) - 1)
