"""N-body: five charges of +1 or -1 in space without walls, as in the benchmark of EGNN and others.

Published are the middle values alone: speed 0.5, strength 1, charges of either sign equally often.
They are the inner ranges, so training and test systems are those of the benchmark; the outer ranges
are ours.
"""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate import pair_laws
from pgode.data.simulate.charged import charge_weights
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.particles import INTEGRATORS
from pgode.data.simulate.system import (
    Initial,
    Motion,
    ParameterColumns,
    Parameters,
    ParticleSystem,
    Schedule,
    Sizes,
)


class NBody(ParticleSystem):
    """Unit masses; the force on i is strength * q_i q_j (x_i - x_j) / r^3, without softening."""

    name = "nbody"
    stream = 2
    ranges = Ranges(
        inner={"speed": (0.5, 0.5), "strength": (1.0, 1.0), "probability": (0.5, 0.5)},
        outer={"speed": (0.4, 0.6), "strength": (0.8, 1.2), "probability": (0.3, 0.7)},
    )
    axes = ("x", "y", "z")
    integrators = tuple(INTEGRATORS)
    sizes = Sizes(objects=5, frames=49, train=3000, val=2000, test=2000, ood=200)

    def initial(self, stream: np.random.Generator, objects: int, parameters: Parameters) -> Initial:
        """Charges, normally distributed positions, and velocities of equal size."""
        weights = charge_weights(stream, objects, parameters["probability"])
        position = stream.normal(0.0, 1.0, (objects, 3))
        direction = stream.normal(0.0, 1.0, (objects, 3))
        size = np.sqrt((direction**2).sum(-1, keepdims=True))
        return Initial(weights, position, parameters["speed"] * direction / size)

    def simulate(
        self, initial: Initial, parameters: ParameterColumns, schedule: Schedule
    ) -> Float[np.ndarray, "system object frame 6"]:
        """Newton's equations in the compiled core."""
        return pair_laws.integrate(
            initial.positions,
            initial.velocities,
            parameters["strength"][:, None, None] * initial.weights,
            frames=schedule.frames,
            sample_every=schedule.sample_every,
            dt=schedule.dt,
            integrator=schedule.integrator,
        )

    def energy(
        self, motion: Motion, parameters: ParameterColumns
    ) -> Float[np.ndarray, "system time"]:
        """Kinetic plus potential energy. Clipped forces do not conserve it."""
        edges, present = motion.edges, motion.present.astype(float)
        system = edges.graph_system[edges.edge_graph]
        potential = pair_laws.potential_energy(
            pair_laws.COULOMB,
            parameters["strength"][system] * edges.edge_attributes[:, 0],
            (system, edges.edge_receiver, edges.edge_sender),
            motion.positions,
        )
        return np.asarray(pair_laws.kinetic_energy(motion.velocities, present) + potential)


NBODY = NBody()
