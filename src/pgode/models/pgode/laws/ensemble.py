"""The members of an ensemble: starts, strengths and walls that differ by what is not known."""

import numpy as np
import torch
from jaxtyping import Float

from pgode.models.pgode.laws.evidence.walls import OUTWARDS
from pgode.models.pgode.laws.motion.path import Forces
from pgode.models.pgode.laws.situation import Situation


def members_of(
    start: Float[np.ndarray, "objects parts"], now: Situation, jitter: float, members: int
) -> tuple[Float[np.ndarray, "members objects parts"], Forces]:
    """Starts (positions, then velocities) and forces; those of the first are not perturbed."""
    states = np.tile(start, (members, 1, 1))
    random = np.random.default_rng(0)
    systems, axes = now.layout.systems, start.shape[1] // 2
    strength = np.tile(now.forces.strength.numpy(), (members, 1))
    places = np.tile(now.forces.walls.numpy(), (members, 1, 1, 1))
    others = members - 1
    shape = (others, len(start), axes)
    states[1:, :, :axes] += jitter * random.standard_normal(shape)
    states[1:, :, axes:] += jitter * random.standard_normal(shape)
    strength[1:] += now.deviation * random.standard_normal((others, systems))
    shift = now.wall_deviation * random.standard_normal((others, systems))
    places[1:] += shift[:, :, None, None] * OUTWARDS
    inside = np.repeat(places, np.diff(now.layout.offsets), axis=1)
    states[..., :axes] = np.clip(states[..., :axes], inside[..., 0], inside[..., 1])
    return states, now.forces._replace(
        strength=torch.from_numpy(strength), walls=torch.from_numpy(places)
    )
