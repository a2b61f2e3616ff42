"""Particles of mass one in a square box, with one pair force: the base of Springs and Charged.

Their parameters are the half-width of the `box`, the initial `speed`, the `strength` of the force,
and a `probability` that the graph is drawn with.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.parameters import Ranges
from pgode.data.simulate.particles import INTEGRATORS, integrate, potential_energy
from pgode.data.simulate.system import (
    Initial,
    Motion,
    ParameterColumns,
    Parameters,
    ParticleSystem,
    Schedule,
)
from pgode.runtime.errors import InputError


@dataclass(frozen=True)
class ParticlesInBox(ParticleSystem):
    """A pair law, the spread of the initial positions, and how the graph is drawn."""

    name: str
    stream: int
    ranges: Ranges
    law: int
    """`particles.HOOKE` or `particles.COULOMB`."""
    spread: float
    """Standard deviation of the initial positions."""
    weights: Callable[[np.random.Generator, int, float], Float[np.ndarray, "object object"]]
    """(stream, objects, probability) -> edge weights, symmetric with zero diagonal."""
    integrators: tuple[str, ...] = tuple(INTEGRATORS)

    def initial(self, stream: np.random.Generator, objects: int, parameters: Parameters) -> Initial:
        """The graph, normally distributed positions, and velocities of equal size."""
        box = parameters["box"]
        weights = self.weights(stream, objects, parameters["probability"])
        position = stream.normal(0.0, self.spread, (objects, len(self.axes)))
        angle = stream.uniform(0.0, 2 * np.pi, objects)
        # A normal draw may, rarely, lie outside the box. Its mirror image does not. The direction
        # of motion is uniform either way, so the velocity needs no mirroring.
        outside = np.abs(position) > box
        position = np.where(outside, np.copysign(2 * box, position) - position, position)
        velocity = parameters["speed"] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        return Initial(weights, position, velocity)

    def simulate(
        self, initial: Initial, parameters: ParameterColumns, schedule: Schedule
    ) -> Float[np.ndarray, "system object frame 4"]:
        """Newton's equations with reflecting walls, in the compiled core."""
        box, strength = parameters["box"], parameters["strength"]
        states = integrate(
            self.law,
            initial.positions,
            initial.velocities,
            strength[:, None, None] * initial.weights,
            box,
            frames=schedule.frames,
            sample_every=schedule.sample_every,
            dt=schedule.dt,
            integrator=schedule.integrator,
        )
        check_inside(states, box, schedule, self.axes)
        return states

    def energy(
        self, motion: Motion, parameters: ParameterColumns
    ) -> Float[np.ndarray, "system time"]:
        """Kinetic plus potential energy. Walls conserve it; clipped forces do not."""
        present, edges = motion.present[:, :, None, None], motion.edges
        kinetic = (np.where(present, motion.velocities, 0.0) ** 2).sum((1, 3)) / 2
        system = edges.graph_system[edges.edge_graph]
        potential = potential_energy(
            self.law,
            parameters["strength"][system] * edges.edge_attributes[:, 0],
            system,
            edges.edge_receiver,
            edges.edge_sender,
            motion.positions,
        )
        return np.asarray(kinetic + potential)


def check_inside(
    states: Float[np.ndarray, "system object time feature"],
    box: Float[np.ndarray, " system"],
    schedule: Schedule,
    axes: tuple[str, ...],
) -> None:
    """Refuse a step so long that one reflection does not bring an object back into the box."""
    inside = np.abs(states[..., : len(axes)]) <= box[:, None, None, None]  # False for NaN.
    if inside.all():
        return
    system, item, frame, axis = np.argwhere(~inside)[0]
    raise InputError(
        f"system {system}, object {item} left its box at time {schedule.times[frame]:g}: "
        f'"q{axes[axis]}" is {states[system, item, frame, axis]:g}, expected within '
        f"+-{box[system]:g}. The step dt={schedule.dt} is too long. Use 0.001, the published "
        f"one."
    )
