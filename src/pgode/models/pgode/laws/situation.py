"""What is inferred from a batch before its forecast."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence.inference import Inferred
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.motion.force_kernel import Layout
from pgode.models.pgode.laws.motion.path import Forces


@dataclass(frozen=True)
class Situation:
    """Everything inferred from a batch's condition that its forecast starts from."""

    seen: list[Observation]
    inferred: list[Inferred]
    layout: Layout
    forces: Forces
    deviation: Float[np.ndarray, " systems"]
    wall_deviation: Float[np.ndarray, " systems"]

    @property
    def weights(self) -> Float[np.ndarray, "objects prototypes"]:
        """Weights of the prototypes in use for every object."""
        return np.concatenate([each.weights for each in self.inferred])


def couplings(
    weights: Float[np.ndarray, "objects prototypes"],
    numbers: Int[np.ndarray, "prototypes prototypes"],
    pairs: Layout,
) -> Float[np.ndarray, "pairs 2 laws"]:
    """How much of each law acts between two objects: on the first, then on the second."""
    first, second = weights[pairs.objects[0]], weights[pairs.objects[1]]
    out = np.zeros((len(first), 2, int(numbers.max()) + 1))
    for k, row in enumerate(numbers):
        for m, law in enumerate(row):
            share = first[:, k] * second[:, m]
            out[:, 0, law] += share
            out[:, 1, numbers[m, k]] += share
    return out
