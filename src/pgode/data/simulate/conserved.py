"""What a simulated system conserves, and so what a good forecast of it conserves too."""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.particles import potential_energy
from pgode.data.simulate.simulation import GENERATOR, SYSTEMS
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError


def energy(
    trajectories: Trajectories,
    states: Float[np.ndarray, "system object time feature"] | None = None,
) -> Float[np.ndarray, "system time"] | None:
    """Kinetic plus potential energy of every system at every time; None where none is known.

    `states` are other states of the same systems, for instance a forecast of them, at any times.
    The energy is known for what `simulate` made. It is NaN at times when a value it needs is
    missing. Walls conserve it; force clipping, in close encounters of Charged, does not.
    """
    generator = trajectories.dataset.attrs["generator"]
    kind = next((each for name, each in SYSTEMS.items() if generator == GENERATOR + name), None)
    edges = trajectories.edges
    if kind is None or len(edges.graph_system) != trajectories.systems:
        return None  # Not ours, or a graph that changes in time: then no energy is conserved.
    if states is None:
        states = trajectories.states
    expected = (trajectories.systems, trajectories.objects, len(trajectories.features))
    if states.ndim != 4 or (*states.shape[:2], states.shape[3]) != expected:
        raise InputError(
            f"the states given for the energy have shape {states.shape}. Expected (system, object, "
            f"time, feature) with {expected[0]} systems, {expected[1]} objects and {expected[2]} "
            f"features, as in the trajectories. Select the same systems from both."
        )
    states = np.asarray(states, float)
    velocities = states[..., trajectories.velocity_features]
    present = trajectories.present[:, :, None, None]
    kinetic = (np.where(present, velocities, 0.0) ** 2).sum((1, 3)) / 2

    system = edges.graph_system[edges.edge_graph]
    names = [str(name) for name in trajectories.dataset["parameter"].values]
    strength = trajectories.parameters[:, names.index("strength")]
    potential = potential_energy(
        kind.law,
        strength[system] * edges.edge_attributes[:, 0],
        system,
        edges.edge_receiver,
        edges.edge_sender,
        states[..., trajectories.position_features],
    )
    return np.asarray(kinetic + potential)
