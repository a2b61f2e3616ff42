"""Positions and velocities as vectors in space, for models that are equivariant.

A normaliser centres and scales velocities like any variable. In scaled units, a rotation of the
data is therefore a rotation about a point other than 0, and an object at rest does not have
velocity 0. Here both are true vectors again: rotating, reflecting or shifting the data rotates,
reflects or shifts them.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.nn.frames import whole_frames
from pgode.runtime.errors import InputError

STRIDE = 0.1
"""Unit of velocity, in units of length per frame, for data without named velocities."""


@dataclass(frozen=True)
class Motion:
    """Vectors of all objects over frames, and values that rotations leave unchanged.

    Velocities have a unit in which dx/dframe = gain v (`Geometry.gain`), with v about as large
    as x. `seen` is 1 between the first and the last observation of a position, else 0.
    """

    position: Float[Tensor, "objects frames dims"]
    velocity: Float[Tensor, "objects frames dims"]
    value: Float[Tensor, "objects frames values"]
    seen: Float[Tensor, "objects frames"]

    def recent(self, frames: int) -> "Motion":
        """The last `frames` frames."""
        parts = (self.position, self.velocity, self.value, self.seen)
        return Motion(*(part[:, -frames:] for part in parts))

    def followed_by(self, future: "Motion") -> "Motion":
        """This motion, continued by `future`."""
        before = (self.position, self.velocity, self.value, self.seen)
        after = (future.position, future.velocity, future.value, future.seen)
        return Motion(*(torch.cat(both, dim=1) for both in zip(before, after, strict=True)))


class Geometry:
    """Which features are vectors, with conversion from scaled features to vectors and back.

    Constants are Python floats and become tensors of the batch's precision where they are used:
    rounded to float32 they would break the symmetry in float64.
    """

    def __init__(self, normaliser: Normaliser, model: str) -> None:
        if not normaliser.positions:
            raise InputError(
                f"{model} needs positions, but none of the features of the data "
                f"({', '.join(normaliser.features)}) has the role position. Expected at least "
                f'one. Give positions the role "position" when building the data, or train a '
                f"model that does not need them."
            )
        self.positions, self.velocities = normaliser.positions, normaliser.velocities
        named = {*self.positions, *self.velocities}
        self.values = [k for k in range(len(normaliser.features)) if k not in named]
        order = [*self.positions, *self.velocities, *self.values]
        self._place = sorted(range(len(order)), key=order.__getitem__)
        self.dims = len(self.positions)
        # One unit for all directions, even if they are different variables in the data.
        length = max(normaliser.scale[q] for q in self.positions)
        speed = max((normaliser.scale[v] for v in self.velocities), default=0.0)
        self.gain = normaliser.frame_duration * speed / length if self.velocities else STRIDE
        self._length = [normaliser.scale[q] / length for q in self.positions]
        self._speed = [normaliser.scale[v] / speed for v in self.velocities]
        self._still = [normaliser.centre[v] / speed for v in self.velocities]

    def observe(self, batch: Batch, frames: int) -> Motion:
        """The history at times -(frames - 1), ..., -1, 0.

        Before its first and after its last observation a position moves with its velocity. A
        velocity that is not named, or was never observed, is the slope of the position. An object
        that was never observed is put at the mean position of the others of its system: a fixed
        place would not shift with the data.
        """
        states = whole_frames(batch, frames)
        ever = batch.observed.any(1)
        inside = _nearest_observed(batch, frames)
        grid = torch.arange(1 - frames, 1, device=states.device, dtype=states.dtype)
        outside = (grid.view(1, -1, 1) - inside)[..., self.positions]
        position = states[..., self.positions] * states.new_tensor(self._length)
        velocity = _slope(position, inside[..., self.positions]) / self.gain
        if self.velocities:
            scaled = states[..., self.velocities]
            named = scaled * states.new_tensor(self._speed) + states.new_tensor(self._still)
            velocity = torch.where(ever[:, None, self.velocities], named, velocity)
        position = position + self.gain * velocity * outside
        known = ever[:, None, self.positions]
        position = torch.where(known, position, _system_mean(position, known, batch))
        seen = ((outside.abs() < 1e-3) & known).all(-1).to(states.dtype)
        return Motion(position, velocity, states[..., self.values], seen)

    def features(self, motion: Motion) -> Float[Tensor, "objects frames features"]:
        """The scaled features of the data, in their order."""
        new = motion.position.new_tensor
        parts = [motion.position / new(self._length)]
        if self.velocities:
            parts.append((motion.velocity - new(self._still)) / new(self._speed))
        return torch.cat([*parts, motion.value], dim=-1)[..., self._place]


def _nearest_observed(batch: Batch, frames: int) -> Float[Tensor, "objects frames features"]:
    """Each frame's time, clamped to the span of a feature's observations; 0 if it has none."""
    when = batch.times[batch.system].unsqueeze(2).expand_as(batch.states)
    ever = batch.observed.any(1)
    first = torch.where(batch.observed, when, torch.inf).amin(1)
    last = torch.where(batch.observed, when, -torch.inf).amax(1)
    first, last = (torch.where(ever, t, 0.0).unsqueeze(1) for t in (first, last))
    grid = torch.arange(1 - frames, 1, device=when.device, dtype=when.dtype).view(1, -1, 1)
    return torch.minimum(torch.maximum(grid, first), last)


def _slope(
    position: Float[Tensor, "objects frames dims"], inside: Float[Tensor, "objects frames dims"]
) -> Float[Tensor, "objects frames dims"]:
    """Change per frame since the previous frame, over the part that lies between observations.

    Where no part does, the slope of the frames before is kept, or else that of those after; 0 if
    there is none.
    """
    share = inside.diff(dim=1)
    steps = share.shape[1]
    has = share > 0.01
    slope = position.diff(dim=1) / torch.where(has, share, 1.0)
    number = torch.arange(steps, device=position.device).view(1, -1, 1)
    before = torch.where(has, number, -1).cummax(1).values
    after = torch.where(has, number, steps).flip(1).cummin(1).values.flip(1)
    place = torch.where(before >= 0, before, after)
    filled = slope.gather(1, place.clamp(max=steps - 1))
    filled = torch.where(place < steps, filled, 0.0)
    return torch.cat([filled[:, :1], filled], dim=1)


def _system_mean(
    position: Float[Tensor, "objects frames dims"],
    known: Bool[Tensor, "objects 1 dims"],
    batch: Batch,
) -> Float[Tensor, "objects frames dims"]:
    """The mean over the objects of known position, for every object of their system."""
    weight = known.to(position.dtype)
    total = system_sum(position * weight, batch)
    return total / system_sum(weight, batch).clamp(min=1)


def system_sum(x: Float[Tensor, "objects ..."], batch: Batch) -> Float[Tensor, "objects ..."]:
    """The sum over all objects of a system, for each of its objects."""
    total = x.new_zeros(batch.systems, *x.shape[1:]).index_add(0, batch.system, x)
    return total[batch.system]


def pair_share(batch: Batch) -> Float[Tensor, "objects 1"]:
    """1/(N - 1) for each object, with N the number of objects of its system."""
    count = system_sum(torch.ones_like(batch.states[:, 0, :1]), batch)
    return 1 / (count - 1).clamp(min=1)


def edge_displacement(
    vectors: Float[Tensor, "objects ..."], graph: Graph
) -> Float[Tensor, "edges ..."]:
    """The receiver's vectors minus the sender's, for every edge."""
    flat = vectors.flatten(1)
    return (graph.at_receivers(flat) - graph.at_senders(flat)).view(-1, *vectors.shape[1:])


def norm(x: Float[Tensor, "*batch dims"]) -> Float[Tensor, "*batch"]:
    """Lengths of vectors, differentiable at 0 too."""
    return (x.square().sum(-1) + 1e-12).sqrt()
