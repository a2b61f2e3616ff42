"""How many past frames the filter of `--velocities` should use, measured on made-up walkers.

`python -m benchmarks.velocities` prints, for each kind of walker and length of the filter, the root
mean squared error of constant-velocity forecasts over 12 frames, in units of a walker's step.
"""

import json

import numpy as np

from benchmarks import Measurements
from pgode.data.files.table.velocities import past_slopes

LENGTHS = (2, 3, 4, 5, 8)
WALKERS, FRAMES, HORIZON = 2000, 20, 12


def walkers(turn: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """True and measured positions (walker, frame, axis); steps of length 1, turning at random."""
    random = np.random.default_rng(0)
    heading = random.uniform(0, 2 * np.pi, (WALKERS, 1))
    heading = heading + np.cumsum(random.normal(0, turn, (WALKERS, FRAMES + HORIZON)), axis=1)
    true = np.cumsum(np.stack([np.cos(heading), np.sin(heading)], axis=-1), axis=1)
    return true, true + random.normal(0, noise, true.shape)


def error(true: np.ndarray, seen: np.ndarray, length: int) -> float:
    """Of forecasts from frame FRAMES - 1 with the velocity that the filter has there."""
    past = seen[:, :FRAMES].reshape(-1, 2)
    frame = np.tile(np.arange(FRAMES), WALKERS)
    owner = np.repeat(np.arange(WALKERS), FRAMES)
    speed = past_slopes(past, frame.astype(float), owner, frame, length)
    last, speed = seen[:, FRAMES - 1], speed.reshape(WALKERS, FRAMES, 2)[:, -1]
    ahead = np.arange(1, HORIZON + 1)[:, None]
    forecast = last[:, None] + ahead * speed[:, None]
    return float(np.sqrt(((forecast - true[:, FRAMES:]) ** 2).sum(-1).mean()))


def run() -> Measurements:
    """Errors by kind of walker and length of the filter."""
    kinds = {
        "straight, exact": (0.0, 0.0),
        "straight, noise of 2 % of a step": (0.0, 0.02),
        "straight, noise of 10 % of a step": (0.0, 0.1),
        "turning by 3 degrees, noise of 2 %": (np.radians(3), 0.02),
        "turning by 10 degrees, noise of 2 %": (np.radians(10), 0.02),
        "turning by 10 degrees, noise of 10 %": (np.radians(10), 0.1),
    }
    return {
        name: {str(n): round(error(*walkers(*settings), n), 3) for n in LENGTHS}
        for name, settings in kinds.items()
    }


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
