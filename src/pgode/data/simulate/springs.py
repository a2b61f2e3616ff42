"""Springs: particles in a box, each pair joined by a spring with a given probability."""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.box import ParticlesInBox
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.particles import HOOKE


def spring_weights(
    stream: np.random.Generator, objects: int, probability: float
) -> Float[np.ndarray, "object object"]:
    """Weight 1 where a pair is joined, else 0. A pair is drawn once: a spring pulls both ways."""
    upper = np.triu(stream.random((objects, objects)) < probability, 1)
    return (upper | upper.T).astype(float)


SPRINGS = ParticlesInBox(
    name="springs",
    stream=0,
    ranges=Ranges(
        inner={
            "box": (4.9, 5.1),
            "speed": (0.49, 0.51),
            "strength": (0.09, 0.11),
            "probability": (0.49, 0.51),
        },
        outer={
            "box": (4.8, 5.2),
            "speed": (0.48, 0.52),
            "strength": (0.08, 0.12),
            "probability": (0.48, 0.52),
        },
    ),
    law=HOOKE,
    spread=0.5,
    weights=spring_weights,
)
