"""People who walk straight ahead: positions without velocities, with names."""

import numpy as np

from pgode.data.trajectories import Trajectories

SYSTEMS, OBJECTS, FRAMES = 6, 3, 30


def walkers(split: tuple[str, ...] = ("train",) * 4 + ("test",) * 2) -> Trajectories:
    random = np.random.default_rng(2)
    start = random.uniform(-5, 5, (SYSTEMS, OBJECTS, 1, 2))
    speed = random.uniform(-1, 1, (SYSTEMS, OBJECTS, 1, 2))
    states = start + speed * np.arange(FRAMES)[:, None] * 0.4
    return Trajectories.build(
        states,
        np.arange(FRAMES) * 0.4,
        edges=np.zeros((SYSTEMS, OBJECTS, OBJECTS)),
        features=("x", "y"),
        roles=("position", "position"),
        units=("m", "m"),
        split=list(split),
        time_units="s",
        system_names=[f"street {k}" for k in range(SYSTEMS)],
        object_names=np.array([[f"{n}{k}" for n in ("Ann", "Bo", "Cy")] for k in range(SYSTEMS)]),
    )
