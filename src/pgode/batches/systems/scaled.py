"""Systems in scaled units, from which windows are cut: all in memory, or a few from a file."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.batches.systems.graph_rows import GraphRows, GraphTimes
from pgode.data.large.edges import StoredEdges
from pgode.data.trajectories import Trajectories
from pgode.runtime.memory import refuse_beyond_memory, usable_memory

PER_VALUE = 32
"""Bytes of memory for each value of a window: as read, scaled, masked and cut."""
PER_EDGE = 64
"""Bytes for each edge at each frame, where distances and directions are looked at."""


@dataclass(frozen=True)
class Scaled:
    """Rows of frames: whole systems, or one row for each window."""

    states: Float[np.ndarray, "row object time feature"]
    observed: Bool[np.ndarray, "row object time feature"]
    times: Float[np.ndarray, "row time"]
    """In frames."""
    inputs: Float[np.ndarray, "row object time input"]
    graph_at: Int[np.ndarray, "row time"]
    """The graph in force at each frame."""
    graphs: GraphRows


def whole_systems(data: Trajectories, normaliser: Normaliser) -> Scaled:
    """All systems of data in memory, so that a batch costs a few copies."""
    edges, systems = data.edges, np.arange(data.systems)
    return Scaled(
        states=_scaled(data.states, normaliser),
        observed=data.observed,
        times=_extended(data.times) / normaliser.frame_duration,
        inputs=normaliser.scaled_inputs(data.inputs).astype(np.float32),
        graph_at=GraphTimes.of(edges, data.systems).in_force(systems, data.times),
        graphs=GraphRows.of(edges, data.n_objects[edges.graph_system], normaliser),
    )


class StoredSystems:
    """Systems whose states stay in a file: each batch reads the frames of its windows.

    Numbers are those of `whole_systems` to the last bit, because each is scaled for itself.
    """

    def __init__(self, data: Trajectories, normaliser: Normaliser) -> None:
        self.data, self.normaliser = data, normaliser
        self.frames, self.objects, self.times = data.n_frames, data.n_objects, data.times
        self.edges = data.edges
        self.graph_times = GraphTimes.of(self.edges, data.systems)
        self.graphs = None
        if not isinstance(self.edges, StoredEdges):
            sizes = self.objects[self.edges.graph_system]
            self.graphs = GraphRows.of(self.edges, sizes, normaliser)

    def most(self, windows: int) -> int:
        """Frames of which so many windows fit into an eighth of memory, with what acts on objects.

        Whoever looks at whole systems, to find forces, looks at each pair of them at each frame.
        """
        _, objects, _, features = self.data.dataset["states"].shape
        rows = max(int(self.objects[self.edges.graph_system].sum()), 1)
        per_object = features * PER_VALUE + PER_EDGE * self.edges.number / rows
        return max(int(usable_memory() / 8 / (windows * objects * per_object)), 1)

    def windows(
        self,
        systems: Int[np.ndarray, " n"],
        starts: Int[np.ndarray, " n"],
        condition: int,
        horizon: int,
    ) -> Scaled:
        """One row for each window."""
        states, inputs = self.data.stored("states"), self.data.stored("inputs")
        assert states is not None
        length = min(condition + horizon, self.data.frames)
        needed = PER_VALUE * len(systems) * length * states.shape[1] * states.shape[3]
        refuse_beyond_memory(
            needed,
            f"a batch of {len(systems)} windows of {length} frames",
            "Take fewer or shorter windows (training.batch, window.horizon).",
        )
        values = states.windows(systems, starts, length)
        frames = starts[:, None] + np.arange(length)
        known = np.minimum(frames, self.frames[systems, None] - 1)
        times = self.times[systems[:, None], known]
        if inputs is None:
            given = np.empty((*values.shape[:3], 0))
        else:
            given = inputs.windows(systems, starts, length)
        graph_at = self.graph_times.in_force(systems, times[:, :condition])
        graphs = self.graphs
        if graphs is None:
            assert isinstance(self.edges, StoredEdges)
            used, numbered = np.unique(graph_at, return_inverse=True)
            sizes = self.objects[self.edges.graph_system[used]]
            graphs = GraphRows.of(self.edges.take(used), sizes, self.normaliser)
            graph_at = numbered.reshape(graph_at.shape)
        return Scaled(
            states=_scaled(values, self.normaliser),
            observed=np.isfinite(values),
            times=times / self.normaliser.frame_duration,
            inputs=self.normaliser.scaled_inputs(given).astype(np.float32),
            graph_at=graph_at,
            graphs=graphs,
        )


def _scaled(
    raw: Float[np.ndarray, "*batch feature"], normaliser: Normaliser
) -> Float[np.ndarray, "*batch feature"]:
    """Single precision, 0 where nothing is known."""
    return np.asarray(np.nan_to_num(normaliser.states(raw)).astype(np.float32))


def _extended(times: Float[np.ndarray, "system time"]) -> Float[np.ndarray, "system time"]:
    """Times with the last one repeated after the end of a system."""
    return np.fmax.accumulate(times, axis=1)
