"""A frame of split motion: half a kick, the fast flow of the laws, half a kick."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.pgode.dynamics.update import Mixture
from pgode.models.pgode.laws.evidence.observation import present
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.laws.motion.moving import move
from pgode.models.pgode.laws.situation import Situation
from pgode.models.pgode.state import Kinematic
from pgode.ode.checkpointing import checkpointed


@dataclass
class Watch:
    """Most fine steps of a piece, and smallest distance, of all motions from a situation."""

    substeps: Float[np.ndarray, " systems"]
    closest: Float[np.ndarray, " systems"]


class Fast:
    """Motion of a batch's objects under the laws alone, with gradients to its start.

    Positions and velocities have the units of the laws and double precision: rounded to single at
    each frame, close encounters would be others.
    """

    def __init__(self, laws: ForceLaws, batch: Batch, now: Situation, watch: Watch) -> None:
        self.laws, self.now, self.watch = laws, now, watch
        self.owner = batch.system
        self.device = batch.states.device
        self.forces = now.forces.to(self.device)
        units = laws.units
        q, v = present(batch, units)
        inside = now.forces.walls[0, batch.system.cpu()].numpy()
        q = np.clip(q, inside[..., 0], inside[..., 1])
        self.centre, self.scale, self.positions, self.velocities = (
            torch.from_numpy(each).to(self.device) for each in (units.centre, units.scale, q, v)
        )

    def flow(
        self,
        q: Float[Tensor, "objects axes"],
        v: Float[Tensor, "objects axes"],
        durations: Float[Tensor, " systems"],
    ) -> tuple[Float[Tensor, "objects axes"], Float[Tensor, "objects axes"]]:
        """States after these durations, in frames; they are on the CPU, wherever the states are."""
        path = move(
            *(q[None], v[None], self.forces, self.now.layout, self.laws.space),
            *(durations.numpy()[None, :, None], self.laws.steps),
        )
        watch = self.watch
        watch.substeps = np.maximum(watch.substeps, path.steps[0, :, 0])
        watch.closest = np.minimum(watch.closest, path.closest[0])
        return path.positions[0, 0], path.velocities[0, 0]

    def scaled(
        self, q: Float[Tensor, "objects axes"], v: Float[Tensor, "objects axes"]
    ) -> Float[Tensor, "objects inputs"]:
        """Positions and velocities as the networks see them."""
        return torch.cat(
            [(q - self.centre[0]) / self.scale[0], (v - self.centre[1]) / self.scale[1]], dim=-1
        )

    def kick(
        self, acceleration: Float[Tensor, "objects axes"], durations: Float[Tensor, " systems"]
    ) -> Float[Tensor, "objects axes"]:
        """Change of velocity by a scaled acceleration (per frame) over these durations."""
        return acceleration.double() * self.scale[1] * self.of_objects(durations)

    def of_objects(self, durations: Float[Tensor, " systems"]) -> Float[Tensor, "objects 1"]:
        """The duration of each object's system, where the states are."""
        return durations.to(self.device)[self.owner, None]


def kicked(
    fast: Fast,
    state: Kinematic,
    mixture: Mixture,
    initial: Float[Tensor, "objects latent"],
    intervals: Sequence[tuple[Float[Tensor, " systems"], int]],
    *,
    recompute: bool = False,
) -> Float[Tensor, "outputs objects inputs"]:
    """States [q, v, z] after each interval, which is so many pieces of this duration.

    The networks are evaluated at the start and at the end of every piece, and one evaluation serves
    the half kicks on both sides of it. It needs the velocity after the first of the two, and z:
    these are taken from the evaluation before. Half kicks then have the values at the ends of the
    piece up to the second order, although forces depend on velocities.
    """
    size, frame_time = state.size, state.frame_time
    dtype = initial.dtype
    parts = (size, 2 * size, 3 * size, 3 * size + initial.shape[1])

    def rates(q: Tensor, v: Tensor, z: Tensor) -> tuple[Tensor, Tensor]:
        """Acceleration and change of z, per frame."""
        mixed = mixture(torch.cat([fast.scaled(q, v).to(dtype), z.to(dtype)], dim=-1))
        return state.acceleration(mixed) * frame_time, (mixed - z) * frame_time

    def piece(carried: Tensor, durations: Tensor) -> Tensor:
        q, v, a, z, dz = torch.tensor_split(carried, parts, dim=-1)
        before = fast.kick(a, durations / 2)
        q, v = fast.flow(q, v + before, durations)
        h = fast.of_objects(durations)
        new_a, new_dz = rates(q, v + before, z + h * dz)
        v, z = v + fast.kick(new_a, durations / 2), z + h / 2 * (dz + new_dz)
        return torch.cat([q, v, new_a.double(), z, new_dz.double()], dim=-1)

    q, v = fast.positions, fast.velocities
    a, dz = rates(q, v, initial)
    carried = torch.cat([q, v, a.double(), initial.double(), dz.double()], dim=-1)
    outputs = []
    for durations, pieces in intervals:
        for _ in range(pieces):
            run = (carried, durations)
            carried = checkpointed(piece, *run) if recompute else piece(*run)
        q, v, _, z, _ = torch.tensor_split(carried, parts, dim=-1)
        outputs.append(torch.cat([fast.scaled(q, v), z], dim=-1).to(dtype))
    return torch.stack(outputs)
