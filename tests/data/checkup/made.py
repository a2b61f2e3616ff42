"""Clean made-up data, of which each test spoils one thing."""

from typing import Any

import numpy as np

from pgode.data.checkup.checks.seasons import season
from pgode.data.checkup.checks.window import suitable_window
from pgode.data.checkup.subject import Subject
from pgode.data.trajectories import Trajectories

SYSTEMS, OBJECTS, FRAMES = 40, 4, 60
FEATURES = ("x", "y", "vx", "vy")
SPLIT = ["train"] * 28 + ["val"] * 6 + ["test"] * 6


def arrays() -> dict[str, Any]:
    """Arguments of `build`: objects on smooth curves, with velocities."""
    rng = np.random.default_rng(1)
    times = 0.1 * np.arange(FRAMES)
    rate, phase, size = rng.uniform(0.5, 1.5, (3, SYSTEMS, OBJECTS, 1, 2))
    angle = rate * times[:, None] + 6 * phase
    states = np.concatenate([size * np.sin(angle), size * rate * np.cos(angle)], axis=-1)
    return {
        "states": states,
        "times": np.tile(times, (SYSTEMS, 1)),
        "edges": np.ones((SYSTEMS, OBJECTS, OBJECTS)) - np.eye(OBJECTS),
        "features": FEATURES,
        "units": ("m", "m", "m/s", "m/s"),
        "time_units": "seconds",
        "split": SPLIT,
        "system_names": [f"walk {k}" for k in range(SYSTEMS)],
        "object_names": np.tile([f"p{k}" for k in range(OBJECTS)], (SYSTEMS, 1)),
    }


def built(**changes: Any) -> Trajectories:
    given = {**arrays(), **changes}
    return Trajectories.build(given.pop("states"), given.pop("times"), **given)


def subject(data: Trajectories | None = None, **changes: Any) -> Subject:
    """Data to check, with the window that suits them unless one is given."""
    data = built() if data is None else data
    period = season(data)
    condition, horizon = suitable_window(data, period)
    given = {"condition": condition, "horizon": horizon, "period": period, **changes}
    return Subject(data, "made.nc", **given)


def series(values: np.ndarray, **changes: Any) -> Subject:
    """One long system of objects with one feature "cases": values (object, time), daily."""
    objects, frames = values.shape
    data = Trajectories.build(
        values[None, :, :, None],
        np.arange(frames),
        edges=np.ones((1, objects, objects)) - np.eye(objects),
        features=("cases",),
        **{"time_units": "days", "time_origin": "2020-03-01", **changes},
    )
    return subject(data)
