"""The smallest data with every difficulty at once, for tests of windows and models."""

import numpy as np
from numpy.typing import NDArray

from pgode.data.trajectories import Edges, Trajectories

CONDITION, HORIZON = 4, 3

FEATURES = ("vx", "qx", "mass", "qy", "vy")
ROLES = ("velocity", "position", "value", "position", "velocity")
VARIABLES = ("v", "q", "m", "q", "v")

OBJECTS = np.array([4, 2, 3, 4, 1])
FRAMES = np.array([8, 8, 6, 7, 8])
OBJECT_AXIS, TIME_AXIS = 4, 8


def times() -> NDArray[np.float64]:
    """Each system has its own clock, with no gap longer than the training frame of 0.5."""
    at = np.full((5, TIME_AXIS), np.nan)
    at[0] = at[1] = np.arange(8) * 0.5
    at[2, :6] = [0.0, 0.5, 0.8, 1.25, 1.75, 2.1]
    at[3, :7] = 10 + np.arange(7) * 0.5
    at[4] = 3 + np.arange(8) * 0.25
    return at


def edges() -> Edges:
    """Two attributes; the graph of system 0 changes within its condition and again after it."""
    rng = np.random.default_rng(5)
    graph_system = np.array([0, 0, 0, 1, 2, 3, 4])
    start = np.array([0.0, 1.0, 3.0, 0.0, 0.0, 10.0, 3.0])
    graph, receiver, sender = [], [], []
    for number, system in enumerate(graph_system):
        size = OBJECTS[system]
        here = (rng.random((size, size)) < 0.6) & ~np.eye(size, dtype=bool)
        rows, columns = np.nonzero(here)
        graph += [number] * len(rows)
        receiver += rows.tolist()
        sender += columns.tolist()
    return Edges(
        graph_system,
        start,
        np.array(graph),
        np.array(receiver),
        np.array(sender),
        rng.uniform(0.5, 1.5, (len(graph), 2)) * [[1, -1]],
        ("weight", "distance"),
    )


def arrays() -> dict[str, NDArray]:
    """Arguments of `Trajectories.build` that are arrays (system, object, ...)."""
    rng = np.random.default_rng(3)
    present = np.arange(OBJECT_AXIS) < OBJECTS[:, None]
    observed = rng.random((5, OBJECT_AXIS, TIME_AXIS, len(FEATURES))) > 0.15
    observed[0, 1, 1] = False  # a gap in an object's history
    observed[0, 2, CONDITION - 1] = False  # not seen when the condition ends
    observed[3, 2] = False  # never seen
    observed[1, :, :CONDITION] = True
    phase = rng.uniform(0, 2 * np.pi, (5, OBJECT_AXIS, 1, len(FEATURES)))
    states = np.sin(phase + 0.7 * np.arange(TIME_AXIS)[:, None]) * [3.0, 2.0, 5.0, 2.0, 3.0] + 0.5
    parameters = rng.uniform(1, 2, (5, 2))
    parameters[4] = np.nan
    group = np.array([[0, 0, 1, -1], [3, 3, -1, -1], [-1] * 4, [1, 0, 1, 0], [0, -1, -1, -1]])
    return {
        "states": states,
        "times": times(),
        "observed": observed,
        "present": present,
        "parameters": parameters,
        "group": group,
    }


def uneven(**changes: object) -> Trajectories:
    """Five systems of 4, 2, 3, 4 and 1 objects and of 8, 8, 6, 7 and 8 frames.

    Values are missing, one object was never seen, clocks differ and are uneven, graphs change,
    edges have two attributes, some objects have groups, one system has unknown parameters,
    features are positions, velocities and another, in no helpful order.
    """
    given = {**arrays(), "edges": edges(), **changes}
    return Trajectories.build(
        given.pop("states"),
        given.pop("times"),
        features=FEATURES,
        roles=ROLES,
        variables=VARIABLES,
        parameter_names=("stiffness", "drag"),
        split=["train", "train", "train", "train", "test"],
        **given,
    )
