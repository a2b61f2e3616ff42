"""One system of PyTorch Geometric: a graph with a time axis, or a sequence of snapshots."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from pgode.runtime.errors import InputError

CLOCKS = ("time", "times", "t")
"""Attributes that hold times; the first of them that a graph has counts."""


@dataclass(frozen=True)
class System:
    """States and times of one system, and the graphs they come from."""

    states: Float[np.ndarray, "object time feature"]
    times: Float[np.ndarray, " time"]
    graphs: list[Any]
    """One with a time axis, or a snapshot per frame."""

    @property
    def first(self) -> Any:
        """The graph whose attributes describe the system."""
        return self.graphs[0]

    def attribute(self, name: str) -> Any:
        """An attribute of the system; None if it has none. Inputs of snapshots follow in time."""
        value = getattr(self.first, name, None)
        if value is None or name != "inputs" or array_of(value).ndim != 2:
            return value
        return np.stack([array_of(getattr(graph, name)) for graph in self.graphs], axis=1)


def array_of(values: Any) -> Shaped[np.ndarray, "..."]:
    """The array of a tensor, wherever it is and whether or not it has a gradient."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(values, step):
            values = getattr(values, step)()
    return np.asarray(values)


def grouped(data: Any, source: str) -> list[list[Any]]:
    """The graphs of each system: one with a time axis, or several snapshots."""
    if hasattr(data, "to_data_list") and _is_graph(data):  # A batch of graphs.
        data = data.to_data_list()
    if _is_graph(data):
        return [[data]]
    given = list(data) if isinstance(data, Iterable) and not isinstance(data, str | Mapping) else []
    if not given:
        raise InputError(
            f"there is no graph in {source}. Expected Data of PyTorch Geometric, a list of them, "
            f"or a list of snapshots for each system. Give at least one."
        )
    if not all(_is_graph(each) for each in given):
        return [_one_system(each, f"system {k} of {source}") for k, each in enumerate(given)]
    with_time = [_axes(each) == 3 for each in given]
    if all(with_time):
        return [[each] for each in given]
    if any(with_time):
        raise InputError(
            f"graphs 0 and {with_time.index(not with_time[0])} of {source} differ: one has a time "
            f"axis, [objects, time, features], and the other has none. Expected the same of all. "
            f"Add the axis, or take it away."
        )
    return [given]


def _one_system(given: Any, source: str) -> list[Any]:
    found = grouped(given, source)
    if len(found) != 1:
        raise InputError(
            f"{source} is a list of {len(found)} graphs with a time axis. Expected one such graph, "
            f"or a list of snapshots. Give all graphs in one list."
        )
    return found[0]


def _is_graph(value: Any) -> bool:
    return hasattr(value, "edge_index")


def _parts(graph: Any) -> dict[str, Shaped[np.ndarray, "..."]]:
    """What may hold features, in their order."""
    named = ((name, getattr(graph, name, None)) for name in ("pos", "vel", "x"))
    return {name: array_of(values) for name, values in named if values is not None}


def _axes(graph: Any) -> int:
    return max((values.ndim for values in _parts(graph).values()), default=0)


def has_constants(graph: Any) -> bool:
    """Whether x, without time, stands beside positions with time."""
    given = _parts(graph)
    return "x" in given and _axes(graph) == 3 and given["x"].ndim == 2


def read_system(graphs: list[Any], source: str, *, later: bool) -> System:
    """States and times of one system; `later`: y continues the frames."""
    frames = [_states(graph, source) for graph in graphs]
    objects, _, width = frames[0].shape
    for k, each in enumerate(frames):
        if (each.shape[0], each.shape[2]) != (objects, width):
            raise InputError(
                f"snapshot {k} of {source} has {each.shape[0]} objects and {each.shape[2]} "
                f"features, but snapshot 0 has {objects} and {width}. Expected the same objects "
                f"and features in all snapshots of a system. Use NaN where an object is missing."
            )
    if later:
        frames += _later(graphs, frames, source)
    states = np.concatenate(frames, axis=1)
    return System(states, _clock(graphs, states.shape[1], source), graphs)


def _states(graph: Any, source: str) -> Float[np.ndarray, "object time feature"]:
    parts, axes = _parts(graph), _axes(graph)
    if has_constants(graph):
        del parts["x"]
    if len({values.shape[:-1] for values in parts.values()}) != 1 or axes not in (2, 3):
        given = ", ".join(f"{name} of shape {values.shape}" for name, values in parts.items())
        raise InputError(
            f"{source} has {given or 'neither x nor pos nor vel'}. Expected x, pos or vel as "
            f"[objects, time, features], or [objects, features] in each snapshot, with equal "
            f"objects and times. Reshape them."
        )
    columns = np.concatenate([v.astype(np.float64) for v in parts.values()], axis=-1)
    return columns if axes == 3 else columns[:, None]


def _later(graphs: list[Any], frames: list[np.ndarray], source: str) -> list[np.ndarray]:
    """The frames that y adds: all later ones, or after the last snapshot one more."""
    found = [getattr(graph, "y", None) for graph in graphs]
    if all(each is None for each in found):
        return []
    fix = 'Leave it out with y="ignore".'
    objects, _, width = frames[0].shape
    targets = [np.empty(0) if each is None else array_of(each).astype(float) for each in found]
    if _axes(graphs[0]) == 2:
        targets = [each.reshape(len(each), 1, -1) if each.size else each for each in targets]
        for k, (target, following) in enumerate(zip(targets, frames[1:], strict=False)):
            if not np.array_equal(target, following, equal_nan=True):
                raise InputError(
                    f"y of snapshot {k} of {source} is not what snapshot {k + 1} holds. Expected y "
                    f"to be the next frame, in every snapshot. {fix}"
                )
    last = targets[-1]
    if last.ndim != 3 or (last.shape[0], last.shape[2]) != (objects, width):
        raise InputError(
            f"y of {source} has shape {last.shape}. Expected later frames of {objects} objects "
            f"with the same {width} features, [objects, time, features]. {fix}"
        )
    return [last]


def _clock(graphs: list[Any], frames: int, source: str) -> Float[np.ndarray, " time"]:
    name = next((each for each in CLOCKS if getattr(graphs[0], each, None) is not None), None)
    if name is None:
        return np.arange(frames, dtype=np.float64)
    stored = [array_of(getattr(graph, name)).astype(np.float64).ravel() for graph in graphs]
    clock = np.concatenate(stored)
    if 1 < len(clock) == len(graphs) == frames - 1:
        clock = np.append(clock, 2 * clock[-1] - clock[-2])  # The frame that the last y adds.
    if len(clock) != frames:
        raise InputError(
            f'{source} has {len(clock)} times in "{name}" and {frames} frames, those of y '
            f"included. Expected one time per frame. Correct them, or give times."
        )
    return clock
