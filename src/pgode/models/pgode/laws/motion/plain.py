"""The motion of `moving.move` in plain torch, for tensors that are not on the CPU.

All copies of all systems take their steps together, each as many as it needs: those that need fewer
stay where they are. Steps are found without gradients; with them, each interval is computed again
in the backward pass, so memory grows with the intervals and not with the steps.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pgode.models.pgode.laws.motion.force_kernel import REFLECT, SHIFT, Layout, Space, Steps
from pgode.models.pgode.laws.motion.path import Forces, Path
from pgode.ode.checkpointing import checkpointed

Number = Int[np.ndarray, "copies systems"]


def move_plainly(
    positions: Float[Tensor, "copies objects axes"],
    velocities: Float[Tensor, "copies objects axes"],
    forces: Forces,
    layout: Layout,
    space: Space,
    durations: Float[np.ndarray, "#copies systems outputs"],
    steps: Steps,
) -> Path:
    """States after each duration, in the steps that the compiled motion takes."""
    field = Field.of(forces, layout, space, positions.device)
    start = torch.cat([positions, velocities], dim=-1).double()
    every = np.broadcast_to(durations, (len(start), *durations.shape[1:]))
    states, numbers, closest = _found(field, start, every, steps)
    if torch.is_grad_enabled() and any(each.requires_grad for each in (start, *forces)):
        states, state = [], start
        for t, number in enumerate(numbers):
            piece = Piece.of(every[:, :, t], number, steps.lead, field)
            state = checkpointed(lambda *given: field.moved(*given)[0], state, piece)
            states.append(state)
    q, v = torch.stack(states, dim=1).to(positions).chunk(2, dim=-1)
    return Path(q, v, np.stack(numbers, axis=2), closest.sqrt().cpu().numpy())


@torch.no_grad()
def _found(
    field: "Field",
    start: Float[Tensor, "copies objects parts"],
    durations: Float[np.ndarray, "copies systems outputs"],
    steps: Steps,
) -> tuple[list[Tensor], list[Number], Float[Tensor, "copies systems"]]:
    """States after each interval, its steps, and the smallest squared distance on the way."""
    closest = torch.full(durations.shape[:2], torch.inf, dtype=start.dtype, device=start.device)
    states: list[Tensor] = []
    numbers: list[Number] = []
    for t in range(durations.shape[2]):
        time = np.abs(durations[:, :, t])
        number = np.maximum(1, (steps.fewest * time + 0.999999).astype(np.int64))
        most = number
        if steps.most > steps.fewest:
            most = (steps.most * np.maximum(time, 1.0) + 0.999999).astype(np.int64)
        while True:
            piece = Piece.of(durations[:, :, t], number, steps.lead, field)
            state, nearest, fastest = field.moved(states[-1] if t else start, piece)
            if (number >= most).all():
                break
            wanted = time * fastest.sqrt().cpu().numpy() / steps.tolerance
            short = (number < most) & (wanted > number)
            if not short.any():
                break
            number = np.where(short, _more(number, wanted, most), number)
        closest = closest.minimum(nearest)
        states.append(state)
        numbers.append(number)
    return states, numbers, closest


def _more(number: Number, wanted: Float[np.ndarray, "copies systems"], most: Number) -> Number:
    """Doubled until they are enough, or the most."""
    more = 2 * number
    while (few := (more < wanted) & (more < most)).any():
        more = np.where(few, 2 * more, more)
    return np.asarray(np.minimum(more, most))


@dataclass(frozen=True)
class Piece:
    """An interval that each copy of each system divides into `number` steps of length `step`."""

    step: Float[Tensor, "copies systems"]
    number: Int[Tensor, "copies systems"]
    longest: int
    lead: float

    @classmethod
    def of(
        cls,
        duration: Float[np.ndarray, "copies systems"],
        number: Number,
        lead: float,
        field: "Field",
    ) -> "Piece":
        """The same steps as tensors."""
        step = field.on_device(duration / number)
        return cls(step, field.on_device(number), int(number.max(initial=0)), lead)

    def kick(self, m: int) -> Float[Tensor, "copies systems"]:
        """How much of the acceleration comes before drift `m`, or after the last one."""
        if m == 0:
            return (0.5 + self.lead) * self.step
        share = torch.where(self.number == m, 0.5 - self.lead, (self.number > m).to(self.step))
        return share * self.step

    def drift(self, m: int) -> Float[Tensor, "copies systems"]:
        """The time of drift `m`: none where there are fewer."""
        return torch.where(self.number > m, self.step, 0.0)


@dataclass(frozen=True)
class Field:
    """Forces and walls of all systems, with the system of each object and the ends of each pair."""

    forces: Forces
    space: Space
    owner: Int[Tensor, " objects"]
    first: Int[Tensor, " pairs"]
    second: Int[Tensor, " pairs"]
    periods: Float[Tensor, " axes"]
    reflects: Bool[Tensor, " axes"]

    @classmethod
    def of(cls, forces: Forces, layout: Layout, space: Space, device: torch.device) -> "Field":
        """Everything in double precision, on one device."""
        owner = np.repeat(np.arange(layout.systems), np.diff(layout.offsets))
        known = (owner, *layout.objects, space.periods, space.kinds == REFLECT)
        parts = (torch.from_numpy(np.ascontiguousarray(each)).to(device) for each in known)
        return cls(Forces(*(each.double() for each in forces)), space, *parts)

    @property
    def drag(self) -> Float[Tensor, "objects 1"]:
        """Drag of each object."""
        return self.forces.drag[:, None]

    def on_device(self, array: np.ndarray) -> Tensor:
        """The array where the forces are."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.owner.device)

    def moved(
        self, state: Float[Tensor, "copies objects parts"], piece: Piece
    ) -> tuple[
        Float[Tensor, "copies objects parts"],
        Float[Tensor, "copies systems"],
        Float[Tensor, "copies systems"],
    ]:
        """States after an interval, the smallest squared distance, the largest squared frequency.

        Both are those at the kicks, as in the compiled motion.
        """
        q, v = state.chunk(2, dim=-1)
        nearest, fastest = torch.full_like(piece.step, torch.inf), torch.zeros_like(piece.step)
        for m in range(piece.longest + 1):
            if m < piece.longest or piece.lead != 0.5:
                kick = piece.kick(m)
                acceleration, near, fast = self.acceleration(q)
                v = v + kick[:, self.owner, None] * acceleration
                nearest = torch.where(kick != 0, nearest.minimum(near), nearest)
                fastest = torch.where(kick != 0, fastest.maximum(fast), fastest)
            if m < piece.longest:
                time = piece.drift(m)[:, self.owner, None]
                kept = torch.exp(-self.drag * time / 2)
                q, v = self.drifted(q, v * kept, time)
                v = v * kept
        return torch.cat([q, v], dim=-1), nearest, fastest

    def acceleration(
        self, q: Float[Tensor, "copies objects axes"]
    ) -> tuple[
        Float[Tensor, "copies objects axes"],
        Float[Tensor, "copies systems"],
        Float[Tensor, "copies systems"],
    ]:
        """Accelerations; each system's smallest squared distance, and largest squared frequency."""
        forces, space = self.forces, self.space
        apart = q[:, self.first] - q[:, self.second]
        turns = torch.round(apart / torch.where(self.periods > 0, self.periods, 1.0))
        apart = apart - self.periods * turns
        square = apart.square().sum(-1)
        laws = tabulated(square, forces.table, space.origin)
        pairs = self.owner[self.first]
        factor = torch.einsum("pek,cpk->ecp", forces.coupling, laws) * forces.strength[:, pairs]
        towards, back = factor[..., None] * apart
        outer = forces.push - forces.pull[:, None] * q
        total = outer.index_add(1, self.first, towards).index_add(1, self.second, -back)
        nothing = torch.zeros_like(forces.strength.detach())
        columns = pairs.expand(len(q), -1)
        near = (nothing + torch.inf).scatter_reduce(1, columns, square.detach(), "amin")
        fast = nothing.scatter_reduce(1, columns, factor.detach().abs().sum(0), "amax")
        return total.clamp(-space.limit, space.limit), near, fast

    def drifted(
        self,
        q: Float[Tensor, "copies objects axes"],
        v: Float[Tensor, "copies objects axes"],
        time: Float[Tensor, "copies objects 1"],
    ) -> tuple[Float[Tensor, "copies objects axes"], Float[Tensor, "copies objects axes"]]:
        """States after free flight, mirrored at the walls."""
        reflects = self.reflects & (time != 0)
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
