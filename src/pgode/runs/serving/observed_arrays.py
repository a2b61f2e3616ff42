"""Arrays that one forecast starts from: checked as far as speed allows, and scaled like windows.

Whatever is unusual about them makes `usual` return None. They then take the way of `Run.forecast`,
which handles it or says what is wrong.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.data.edges import Edges


@dataclass(frozen=True)
class Given:
    """What a caller passed, by the names that `Run.forecast` takes in a dict."""

    states: Any
    edges: Any = None
    times: Any = None
    constants: Any = None
    inputs: Any = None

    def arrays(self) -> dict[str, Any]:
        """The dict for `Run.forecast`; states of one system and one graph for all are filled up."""
        named = {name: value for name, value in vars(self).items() if value is not None}
        states, inputs = np.asarray(self.states), self.inputs
        if states.dtype.kind not in "biuf" or states.ndim not in (3, 4):
            return named
        if inputs is not None and np.ndim(inputs) == states.ndim:
            named["states"] = _as_long_as(states, np.asarray(inputs))
        edges = self.edges
        if edges is not None and not isinstance(edges, Edges):
            dense = np.asarray(edges)
            if states.ndim == 4 and dense.ndim == 2:
                named["edges"] = np.broadcast_to(dense, (len(states), *dense.shape))
        return named


@dataclass(frozen=True)
class Usual:
    """Finite arrays of systems with the same objects, each up to its last observed frame."""

    states: Float[np.ndarray, "system object time feature"]
    observed: Bool[np.ndarray, "system object time feature"]
    seen: Int[np.ndarray, " system"]
    clock: Float[np.ndarray, "system time"]
    constants: Float[np.ndarray, "system object constant"] | None
    inputs: Float[np.ndarray, "system object time input"] | None
    key: Hashable
    """Equal for arrays with the same graphs and the same pattern of observed values."""
    condition: int

    def fill(
        self, template: Batch, normaliser: Normaliser, ahead: Float[np.ndarray, " outputs"]
    ) -> Batch | None:
        """The batch that `Windows.last` would make, on the graphs of a template.

        None where known inputs are not given at the times of the forecast.
        """
        past = (self.seen - self.condition)[:, None] + np.arange(self.condition)
        rows = np.arange(len(past))[:, None]
        scaled = np.nan_to_num(normaliser.states(_cut(self.states, past))).astype(np.float32)
        clock = self.clock / normaliser.frame_duration
        times = _tensor(clock[rows, past] - clock[rows[:, 0], self.seen - 1][:, None])
        changes: dict[str, Any] = {
            "states": _joined(scaled),
            "observed": _joined(_cut(self.observed, past)),
            "times": times,
        }
        if self.constants is not None:
            changes["constants"] = _joined(
                normaliser.scaled_constants(self.constants).astype(np.float32)
            )
        if self.inputs is not None:
            later = (self.seen - 1)[:, None] + np.round(ahead).astype(np.int64)
            if later.max() >= self.inputs.shape[2] or (ahead != np.round(ahead)).any():
                return None
            known = _cut(self.inputs, np.concatenate([past, later], axis=1))
            future = _tensor(np.broadcast_to(ahead, (len(past), len(ahead))))
            changes["inputs"] = _joined(normaliser.scaled_inputs(known).astype(np.float32))
            changes["input_times"] = torch.cat([times, future], 1)
        return replace(template, **changes)


def usual(given: Given, normaliser: Normaliser, condition: int) -> Usual | None:
    """The arrays as float64 with a system axis; None if anything about them is unusual."""
    states = np.asarray(given.states)
    if states.dtype.kind not in "biuf" or states.ndim not in (3, 4):
        return None
    single = states.ndim == 3
    states = np.asarray(states[None] if single else states, np.float64)
    constants = _floats(given.constants, single)
    inputs = _floats(given.inputs, single)
    if inputs is not None and inputs.ndim == 4:
        states = _as_long_as(states, inputs)
    systems, objects, frames, features = states.shape
    if features != len(normaliser.features) or not states.size or np.isinf(states).any():
        return None
    fixed = (systems, objects, len(normaliser.constants))
    if constants is not None and (constants.shape != fixed or np.isinf(constants).any()):
        return None
    ahead = (systems, objects, frames, len(normaliser.inputs))
    if (inputs is None) != (not normaliser.inputs):
        return None
    if inputs is not None and (inputs.shape != ahead or not np.isfinite(inputs).all()):
        return None
    regular = given.times is None
    clock = _clock(given.times, systems, frames, normaliser.frame_duration)
    if clock is None or (inputs is not None and not regular):
        return None
    observed = ~np.isnan(states)
    any_seen = np.asarray(observed.any((1, 3)))
    seen = frames - np.argmax(any_seen[:, ::-1], axis=1)
    if not any_seen.any(1).all() or seen.min() < condition:
        return None
    if any(normaliser.transforms) and np.isnan(normaliser.states(states)[observed]).any():
        return None
    graph = _graph_key(given.edges, clock)
    pattern = None if observed.all() else (observed.tobytes(), seen.tobytes())
    key = (states.shape, graph, pattern, constants is None)
    return Usual(states, observed, seen, clock, constants, inputs, key, condition)


def _clock(
    times: Any, systems: int, frames: int, frame_duration: float
) -> Float[np.ndarray, "system time"] | None:
    """Times of all frames of all systems; None if they do not increase."""
    if times is None:
        own = np.arange(frames) * frame_duration
        return np.broadcast_to(own, (systems, frames))
    given = np.asarray(times)
    if given.dtype.kind not in "biuf" or given.shape not in ((frames,), (systems, frames)):
        return None
    own = np.broadcast_to(given.astype(np.float64), (systems, frames))
    return own if np.isfinite(own).all() and (np.diff(own, axis=1) > 0).all() else None


def _graph_key(edges: Any, clock: np.ndarray) -> Hashable:
    """What tells two graphs apart: all numbers of them."""
    if edges is None:
        return None
    if isinstance(edges, Edges):
        parts = [each for each in vars(edges).values() if isinstance(each, np.ndarray)]
        return (edges.attribute_names, clock.tobytes(), *(each.tobytes() for each in parts))
    dense = np.asarray(edges)
    return (dense.shape, dense.dtype.str, dense.tobytes())


def _floats(values: Any, single: bool) -> np.ndarray | None:
    if values is None:
        return None
    array = np.asarray(values)
    array = array.astype(np.float64) if array.dtype.kind in "biuf" else np.full(array.shape, np.inf)
    return array[None] if single else array


def _as_long_as(states: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """States with frames without values where there are inputs of later frames."""
    missing = inputs.shape[-2] - states.shape[-2]
    if missing <= 0:
        return states
    shape = (*states.shape[:-2], missing, states.shape[-1])
    return np.concatenate([states, np.full(shape, np.nan)], axis=-2)


def _cut(array: np.ndarray, frames: Int[np.ndarray, "system n"]) -> np.ndarray:
    """Some frames of each system."""
    if (frames == frames[0]).all() and (np.diff(frames[0]) == 1).all():
        return array[:, :, frames[0, 0] : frames[0, -1] + 1]
    return np.stack([each[:, chosen] for each, chosen in zip(array, frames, strict=True)])


def _joined(array: Float[np.ndarray, "system object *rest"]) -> Tensor:
    """Objects of all systems along one axis."""
    return torch.from_numpy(np.ascontiguousarray(array).reshape(-1, *array.shape[2:]))


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))
