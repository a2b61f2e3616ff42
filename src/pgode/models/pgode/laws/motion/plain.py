"""The motion of `moving.move` in plain torch, for tensors that are not on the CPU.

Any device can run it and differentiate through it, at the price of memory for every step. All
systems take their steps together, so the number of steps does not follow close encounters.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.models.pgode.laws.motion.force_kernel import REFLECT, SHIFT, Layout, Space, Steps
from pgode.models.pgode.laws.motion.path import Forces, Path


def move_plainly(
    positions: Float[Tensor, "copies objects axes"],
    velocities: Float[Tensor, "copies objects axes"],
    forces: Forces,
    layout: Layout,
    space: Space,
    durations: Float[np.ndarray, "#copies systems outputs"],
    steps: Steps,
) -> Path:
    """States after each duration, with as many steps as the compiled motion takes at first."""
    field = Field.of(forces, layout, space, positions.device)
    q, v = positions.double(), velocities.double()
    every = np.broadcast_to(durations, (len(q), *durations.shape[1:]))
    numbers = np.ceil(steps.fewest * np.abs(every) - 1e-6).clip(min=1).astype(np.int64)
    closest = torch.full((len(q), layout.systems), torch.inf, dtype=q.dtype, device=q.device)
    states = []
    for t in range(every.shape[2]):
        number = numbers[:, :, t]
        whole = every[:, :, t] / number
        for m in range(int(number.max(initial=0)) + 1):
            share = np.select(
                [m > number, m == 0, m == number], [0, 0.5 + steps.lead, 0.5 - steps.lead], 1
            )
            kick = field.of_objects(share * whole)
            if share.any():
                acceleration, near = field.acceleration(q)
                v = v + kick * acceleration
                closest = torch.where(field.on_device(share != 0), closest.minimum(near), closest)
            time = field.of_objects(whole * (m < number))
            kept = torch.exp(-field.drag * time / 2)
            q, v = field.drifted(q, v * kept, time)
            v = v * kept
        states.append((q, v))
    path = [torch.stack(part, dim=1).to(positions) for part in zip(*states, strict=True)]
    return Path(path[0], path[1], numbers, closest.sqrt().numpy(force=True))


@dataclass(frozen=True)
class Field:
    """Forces and walls of all systems, with the system of each object and the ends of each pair."""

    forces: Forces
    space: Space
    owner: Int[Tensor, " objects"]
    first: Int[Tensor, " pairs"]
    second: Int[Tensor, " pairs"]

    @classmethod
    def of(cls, forces: Forces, layout: Layout, space: Space, device: torch.device) -> "Field":
        """Everything in double precision, on one device."""
        owner = np.repeat(np.arange(layout.systems), np.diff(layout.offsets))
        numbers = (torch.from_numpy(each).to(device) for each in (owner, *layout.objects))
        return cls(Forces(*(each.double() for each in forces)), space, *numbers)

    @property
    def drag(self) -> Float[Tensor, "objects 1"]:
        """Drag of each object."""
        return self.forces.drag[:, None]

    def on_device(self, array: np.ndarray) -> Tensor:
        """The array where the forces are."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.owner.device)

    def of_objects(
        self, values: Float[np.ndarray, "copies systems"]
    ) -> Float[Tensor, "copies objects 1"]:
        """The value of each object's system."""
        return self.on_device(values)[:, self.owner, None]

    def acceleration(
        self, q: Float[Tensor, "copies objects axes"]
    ) -> tuple[Float[Tensor, "copies objects axes"], Float[Tensor, "copies systems"]]:
        """Accelerations of all objects, and the smallest squared distance in each system."""
        forces, space = self.forces, self.space
        apart = q[:, self.first] - q[:, self.second]
        periods = self.on_device(space.periods)
        turns = torch.round(apart / torch.where(periods > 0, periods, 1.0))
        apart = apart - periods * turns
        square = apart.square().sum(-1)
        laws = tabulated(square, forces.table, space.origin)
        pairs = self.owner[self.first]
        factor = torch.einsum("pek,cpk->ecp", forces.coupling, laws) * forces.strength[:, pairs]
        towards, back = factor[..., None] * apart
        outer = forces.push - forces.pull[:, None] * q
        total = outer.index_add(1, self.first, towards).index_add(1, self.second, -back)
        nearest = torch.full_like(forces.strength, torch.inf)
        columns = pairs.expand(len(q), -1)
        nearest = nearest.scatter_reduce(1, columns, square.detach(), "amin")
        return total.clamp(-space.limit, space.limit), nearest

    def drifted(
        self,
        q: Float[Tensor, "copies objects axes"],
        v: Float[Tensor, "copies objects axes"],
        time: Float[Tensor, "copies objects 1"],
    ) -> tuple[Float[Tensor, "copies objects axes"], Float[Tensor, "copies objects axes"]]:
        """States after free flight, mirrored at the walls."""
        reflects = self.on_device(self.space.kinds == REFLECT)
        low, high = self.forces.walls[:, self.owner].unbind(-1)
        x = q + time * v
        over, under = reflects & (x > high), reflects & (x < low)
        mirrored = torch.where(over, 2 * high - x, torch.where(under, 2 * low - x, x))
        return mirrored, torch.where(over | under, -v, v)


def tabulated(
    square: Float[Tensor, "copies pairs"], table: Float[Tensor, "cells laws 4"], origin: int
) -> Float[Tensor, "copies pairs laws"]:
    """Force over distance of every law; beyond the table as at its ends."""
    cell = ((square.detach().view(torch.int64) >> SHIFT) - origin).clamp(0, len(table) - 1)
    low, high = (((cell + origin + end) << SHIFT).view(torch.float64) for end in (0, 1))
    u = ((square - low) / (high - low)).clamp(0, 1)[..., None]
    w = 1 - u
    at = table[cell]
    values = w * w * (1 + 2 * u) * at[..., 0] + u * u * (1 + 2 * w) * at[..., 1]
    return values + w * w * u * at[..., 2] - u * u * w * at[..., 3]
