"""Gravity: stars of different masses in space, which attract each other by Newton's law.

Three dimensions, because 1 / r^2 is the law of gravity there, and because close encounters would be
far more frequent in a plane. The state at time zero is near virial equilibrium, so that a system
neither collapses nor flies apart during the simulation.
"""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate import pair_laws
from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.system import (
    Initial,
    Motion,
    ParameterColumns,
    Parameters,
    ParticleSystem,
    Schedule,
)

SOFTENING = 0.1
"""Distances enter as s = sqrt(r^2 + SOFTENING^2), a tenth of the spread of the positions.

Two of the heaviest stars that fall towards each other then reach a relative speed of about 3.5 and
pass in 30 steps of 0.001.
"""


class Gravity(ParticleSystem):
    """a_i = strength * sum_j m_j (x_j - x_i) / s^3; the edge of receiver i and sender j weighs m_j.

    Masses are log-uniform around one: `mass_ratio` is the largest possible over the smallest.
    `virial` is twice the kinetic over the negative potential energy at time zero: 1 in equilibrium,
    below 2 a system is bound.
    """

    name = "gravity"
    stream = 3
    ranges = Ranges(
        inner={"strength": (0.09, 0.11), "virial": (0.9, 1.1), "mass_ratio": (9.0, 11.0)},
        outer={"strength": (0.08, 0.12), "virial": (0.8, 1.2), "mass_ratio": (6.0, 16.0)},
    )
    axes = ("x", "y", "z")
    integrators = ("velocity-verlet",)

    def initial(self, stream: np.random.Generator, objects: int, parameters: Parameters) -> Initial:
        """Masses, normally distributed positions and velocities; centre of mass at rest at zero."""
        exponent = stream.uniform(-0.5, 0.5, objects)
        mass = parameters["mass_ratio"] ** exponent
        position, velocity = stream.normal(0.0, 1.0, (2, objects, 3))
        position -= np.average(position, axis=0, weights=mass)
        velocity -= np.average(velocity, axis=0, weights=mass)
        weights = np.tile(mass, (objects, 1))
        np.fill_diagonal(weights, 0.0)
        square = ((position[:, None] - position) ** 2).sum(-1) + SOFTENING**2
        depth = parameters["strength"] * (mass[:, None] * weights / np.sqrt(square)).sum() / 2
        kinetic = (mass * (velocity**2).sum(-1)).sum() / 2
        # A single object has neither potential nor, at rest, kinetic energy.
        size = np.sqrt(parameters["virial"] * depth / (2 * kinetic)) if objects > 1 else 0.0
        return Initial(weights, position, size * velocity)

    def simulate(
        self, initial: Initial, parameters: ParameterColumns, schedule: Schedule
    ) -> Float[np.ndarray, "system object frame 6"]:
        """Newton's equations in the compiled core."""
        mass = masses(initial.weights)
        return pair_laws.integrate(
            initial.positions,
            initial.velocities,
            -parameters["strength"][:, None, None] * mass[:, :, None] * mass[:, None],
            frames=schedule.frames,
            sample_every=schedule.sample_every,
            dt=schedule.dt,
            integrator=schedule.integrator,
            softening=SOFTENING,
            masses=mass,
        )

    def energy(
        self, motion: Motion, parameters: ParameterColumns
    ) -> Float[np.ndarray, "system time"]:
        """Kinetic plus potential energy."""
        edges = motion.edges
        system = edges.graph_system[edges.edge_graph]
        mass = motion.present.astype(float)  # One where no edge says more.
        mass[system, edges.edge_sender] = edges.edge_attributes[:, 0]
        product = mass[system, edges.edge_receiver] * mass[system, edges.edge_sender]
        potential = pair_laws.potential_energy(
            pair_laws.COULOMB,
            -parameters["strength"][system] * product,
            (system, edges.edge_receiver, edges.edge_sender),
            motion.positions,
            softening=SOFTENING,
        )
        return np.asarray(pair_laws.kinetic_energy(motion.velocities, mass) + potential)


def masses(
    weights: Float[np.ndarray, "system object object"],
) -> Float[np.ndarray, "system object"]:
    """The mass of each object: its weight as a sender, one for an object that is alone."""
    heaviest = weights.max(axis=1)
    return np.where(heaviest > 0, heaviest, 1.0)


GRAVITY = Gravity()
