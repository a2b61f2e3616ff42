"""Three plain systems, of which tests of trajectories change one argument."""

from typing import Any

import numpy as np

from pgode.data.trajectories import Trajectories

FEATURES = ("qx", "qy", "vx", "vy")


def plain(**changes: Any) -> dict[str, Any]:
    """Arguments of `build` for 3 systems of 4 objects, 5 frames and 4 features, with changes."""
    rng = np.random.default_rng(3)
    edges = np.zeros((3, 4, 4))
    edges[0, 1, 0], edges[0, 0, 2], edges[1, 2, 3], edges[2, 3, 1] = 1.0, 0.5, 2.0, -1.0
    given = {
        "states": rng.normal(size=(3, 4, 5, 4)),
        "times": np.arange(5) * 0.5,
        "edges": edges,
        "features": FEATURES,
        "split": ["train", "test", "train"],
        "parameters": rng.random((3, 2)),
        "parameter_names": ("box", "strength"),
    }
    return given | changes


def build(**changes: Any) -> Trajectories:
    given = plain(**changes)
    return Trajectories.build(given.pop("states"), given.pop("times"), **given)
