"""Charged: particles in a box, each with a charge of +1 or -1, every pair interacting."""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.box import ParticlesInBox
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.particles import COULOMB


def charge_weights(
    stream: np.random.Generator, objects: int, probability: float
) -> Float[np.ndarray, "object object"]:
    """Weight q_i q_j: +1 where a pair repels, -1 where it attracts.

    A charge is +1 with the given probability.
    """
    charge = np.where(stream.random(objects) < probability, 1.0, -1.0)
    weights = np.outer(charge, charge)
    np.fill_diagonal(weights, 0.0)
    return weights


CHARGED = ParticlesInBox(
    name="charged",
    stream=1,
    ranges=Ranges(
        inner={
            "box": (4.9, 5.1),
            "speed": (0.49, 0.51),
            "strength": (0.9, 1.1),
            "probability": (0.49, 0.51),
        },
        outer={
            "box": (4.8, 5.2),
            "speed": (0.48, 0.52),
            "strength": (0.8, 1.2),
            "probability": (0.48, 0.52),
        },
    ),
    law=COULOMB,
    spread=1.0,
    weights=charge_weights,
)
