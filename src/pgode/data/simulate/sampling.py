"""What defines a kind of particle system, and how its samples are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.parameters import Ranges
from pgode.data.splits import SPLITS

Draw = Callable[[np.random.Generator, int, float], Float[np.ndarray, "object object"]]


@dataclass(frozen=True)
class ParticleSystem:
    """A kind of system: parameter ranges, initial spread, pair law, and how its graph is drawn."""

    name: str
    stream: int
    """Enters every random stream of this kind; never to be changed or used twice."""
    law: int
    """`particles.HOOKE` or `particles.COULOMB`."""
    spread: float
    """Standard deviation of the initial positions."""
    ranges: Ranges
    """Ranges of box (half-width), speed, strength and probability."""
    weights: Draw
    """(stream, objects, probability) -> edge weights, symmetric with zero diagonal."""


@dataclass(frozen=True)
class Start:
    """Systems at time zero."""

    parameters: Float[np.ndarray, "system parameter"]
    weights: Float[np.ndarray, "system object object"]
    positions: Float[np.ndarray, "system object 2"]
    velocities: Float[np.ndarray, "system object 2"]


def draw_start(kind: ParticleSystem, objects: int, counts: Sequence[int], seed: int) -> Start:
    """Draw `counts` systems of each split.

    Every system has a random stream of its own, made from (seed, kind, split, index). So a system
    does not depend on how many others are drawn, neither in its split nor in another: a quick run
    with ten training systems sees the first ten of the full set, and tests on the full test set.
    """
    systems = sum(counts)
    parameters = np.empty((systems, len(kind.ranges.names)))
    weights = np.empty((systems, objects, objects))
    positions = np.empty((systems, objects, 2))
    velocities = np.empty((systems, objects, 2))
    labels = [(split, index) for split, count in enumerate(counts) for index in range(count)]
    for row, (split, index) in enumerate(labels):
        stream = np.random.default_rng(np.random.SeedSequence((seed, kind.stream, split, index)))
        parameters[row] = kind.ranges.draw(stream, ood=SPLITS[split] == "ood")
        box, speed, _, probability = parameters[row]
        weights[row] = kind.weights(stream, objects, probability)
        position = stream.normal(0.0, kind.spread, (objects, 2))
        angle = stream.uniform(0.0, 2 * np.pi, objects)
        # A normal draw may, rarely, lie beyond a wall. Its mirror image does not. The direction of
        # motion is uniform either way, so the velocity needs no mirroring.
        positions[row] = np.where(
            np.abs(position) > box, np.copysign(2 * box, position) - position, position
        )
        velocities[row] = speed * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return Start(parameters, weights, positions, velocities)
