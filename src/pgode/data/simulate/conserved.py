"""The energy of simulated systems, which a good forecast conserves too."""

import numpy as np
from jaxtyping import Float

from pgode.data.simulate.simulation import generated_by
from pgode.data.simulate.system import Motion
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError


def energy(
    trajectories: Trajectories,
    states: Float[np.ndarray, "system object time feature"] | None = None,
) -> Float[np.ndarray, "system time"] | None:
    """Energy of every system at every time; None where it is not known.

    `states` are other states of the same systems, for instance a forecast of them, at any times.
    The energy is known for data of `simulate`, unless the system conserves none (Mixed has drag).
    It is NaN at times at which a value it needs is missing.
    """
    kind = generated_by(trajectories.dataset.attrs["generator"])
    edges = trajectories.edges
    if kind is None or len(edges.graph_system) != trajectories.systems:
        return None  # Not simulated here, or a graph that changes in time and conserves no energy.
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
    names = trajectories.dataset["parameter"].values.tolist()
    if not set(kind.ranges.names) <= set(names):
        return None  # The parameters were left out of the file.
    motion = Motion(
        states[..., trajectories.position_features],
        states[..., trajectories.velocity_features],
        trajectories.present,
        edges,
    )
    return kind.energy(motion, dict(zip(names, trajectories.parameters.T, strict=True)))
