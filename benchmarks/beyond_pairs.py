"""Objects whose forces are not all pair forces: laws alone, laws with messages, messages alone.

python -m benchmarks.beyond_pairs [swirl flock]      # resumable: finished runs are kept
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.trajectories import Trajectories

OUT = Path("benchmarks/results/beyond_pairs.json")
FINE = 20
"""Steps of the integration per frame."""
FRAME = 0.2
STIFFNESS = 0.3
Field = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Acceleration (system, object, axis) beside springs, from places, velocities and pairs joined."""


def swirl(q: np.ndarray, v: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """An outer field that turns velocities, and pushes by place: waves along both axes."""
    turned = np.stack([-v[..., 1], v[..., 0]], axis=-1)
    return np.asarray(0.3 * turned + 0.1 * np.sin(2 * q[..., ::-1]))


def flock(q: np.ndarray, v: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """Objects turn to the mean velocity of those they are joined to, and keep a speed."""
    mates = joined.sum(-1, keepdims=True)
    mean = np.where(mates > 0, joined @ v / np.maximum(mates, 1), v)
    speed = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.asarray(0.3 * (mean - v) + 0.3 * (0.6 - speed) * v)


def nothing(q: np.ndarray, v: np.ndarray, joined: np.ndarray) -> np.ndarray:
    """Springs alone."""
    return np.zeros_like(q)


FIELDS: dict[str, Field] = {"swirl": swirl, "flock": flock, "nothing": nothing}


def simulated(
    field: str, systems: dict[str, int], objects: int = 5, frames: int = 48, seed: int = 0
) -> Trajectories:
    """Springs between half of all pairs with a field beside them, by a Runge-Kutta scheme."""
    stream = np.random.default_rng(seed)
    number = sum(systems.values())
    q = stream.normal(0, 0.7, (number, objects, 2))
    v = stream.normal(0, 0.4, (number, objects, 2))
    joined = np.triu(stream.random((number, objects, objects)) < 0.5, 1)
    joined = (joined | joined.swapaxes(1, 2)).astype(float)
    mates = joined.sum(-1, keepdims=True)

    def slope(y: Float[np.ndarray, "two system object axis"]) -> np.ndarray:
        q, v = y
        pull = STIFFNESS * (joined @ q - mates * q)
        return np.stack([v, pull + FIELDS[field](q, v, joined)])

    y, kept, h = np.stack([q, v]), [], FRAME / FINE
    for step in range(frames * FINE):
        if step % FINE == 0:
            kept.append(np.concatenate([*y], axis=-1))
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
    return Trajectories.build(
        np.stack(kept, axis=2),
        FRAME * np.arange(frames),
        edges=joined,
        features=("qx", "qy", "vx", "vy"),
        roles=("position", "position", "velocity", "velocity"),
        variables=("q", "q", "v", "v"),
        split=[name for name, count in systems.items() for _ in range(count)],
    )


VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "laws": ("default", {"model.dynamics.messages": False, "model.dynamics.prototypes": 2}),
    "laws with messages": (
        "default",
        {"model.dynamics.messages": True, "model.dynamics.prototypes": 2, "model.width": 32},
    ),
    "messages": ("messages", {"model.dynamics.prototypes": 2, "model.width": 32}),
}
BUDGET = {
    "window.horizon": 24,
    "training.epochs": 40,
    "training.threads": 1,
}
SYSTEMS = {"train": 80, "val": 8, "test": 40}


def main() -> int:
    """Train what is missing, and write errors and times."""
    from pgode.runs import api
    from pgode.runtime.files import write_json

    content = json.loads(OUT.read_text()) if OUT.exists() else {}
    for field in sys.argv[1:] or ["swirl", "flock"]:
        data = simulated(field, SYSTEMS)
        rows = content.setdefault(field, {})
        for name, (preset, changes) in VARIANTS.items():
            if name in rows:
                continue
            folder = Path("runs/beyond_pairs") / field / name.replace(" ", "-")
            settings = {**BUDGET, **changes, **({} if preset == "messages" else SOFT)}
            run = api.train(data, folder, preset=preset, settings=settings)
            mse = run.evaluate(data, horizons=[12, 24], samples=0).mse
            seconds = run.epochs[-1]["seconds"]
            rows[name] = {
                "seconds": round(seconds),
                **{str(frames): mse.row("test", frames) for frames in (12, 24)},
            }
            write_json(OUT, content)
            print(field, name, rows[name], flush=True)
    return 0


SOFT = {
    "model.dynamics.most_substeps": 64,
    "model.dynamics.ensemble": 1,
    "model.walls": "none",
}
"""These systems have neither hard encounters nor walls, and are not chaotic."""

if __name__ == "__main__":
    sys.exit(main())
