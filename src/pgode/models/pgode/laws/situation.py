"""What is inferred from a batch before its forecast."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

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
