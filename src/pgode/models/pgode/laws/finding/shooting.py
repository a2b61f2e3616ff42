"""One frame ahead from every observed frame, in fine steps: misfits, and exact strengths.

Integrals along observed paths (`inference`) are quick but blur close encounters. Here the motion
between two frames is solved, so that the strength comes out as well as the frames allow.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.models.pgode.laws.evidence.inference import FREEDOM
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.motion.force_kernel import Layout, Space, Steps
from pgode.models.pgode.laws.motion.moving import move
from pgode.models.pgode.laws.motion.path import Forces, Path

ITERATIONS = 3
"""Gauss-Newton steps of the strength."""
NUDGE = 1e-4
"""Relative change of the strength that its derivative is taken over."""
FARTHEST = 3.0
"""Deviations of the training systems' strengths, tripled, that a strength may be away from one."""
LEAST = 1e-18
"""Squared errors are not taken to be smaller than this: nothing is observed more exactly."""


@dataclass(frozen=True)
class Frames:
    """All intervals of several systems as copies: copy t starts at frame t of every system.

    Systems with fewer frames repeat their last interval, which then does not count.
    """

    positions: Float[np.ndarray, "copies objects axes"]
    velocities: Float[np.ndarray, "copies objects axes"]
    next_positions: Float[np.ndarray, "copies objects axes"]
    next_velocities: Float[np.ndarray, "copies objects axes"]
    durations: Float[np.ndarray, "copies systems 1"]
    counts: Float[np.ndarray, "copies objects"]

    @classmethod
    def of(cls, seen: list[Observation]) -> "Frames":
        """The usable intervals of each system."""
        places = [np.flatnonzero(each.usable) for each in seen]
        most = max((len(place) for place in places), default=0)
        rows = [np.resize(place, most) if len(place) else None for place in places]

        def joined(array: str, later: int) -> np.ndarray:
            parts = []
            for each, row in zip(seen, rows, strict=True):
                values = getattr(each, array)
                parts.append(
                    np.repeat(values[-1:], most, axis=0) if row is None else values[row + later]
                )
            return np.concatenate(parts, axis=1) if parts else np.empty((0, 0, 0))

        durations = np.ones((most, len(seen), 1))
        counts = []
        for s, (each, row) in enumerate(zip(seen, rows, strict=True)):
            usable = 0 if row is None else len(places[s])
            if row is not None:
                durations[:, s, 0] = each.durations[row]
            counts.append(np.tile((np.arange(most) < usable)[:, None], (1, each.objects)))
        return cls(
            joined("positions", 0),
            joined("velocities", 0),
            joined("positions", 1),
            joined("velocities", 1),
            durations,
            np.concatenate(counts, axis=1).astype(np.float64),
        )

    def few(self, most: int, random: np.random.Generator) -> "Frames":
        """At most `most` copies: half of them those with the fastest changes, others at random."""
        changes = np.abs(self.next_velocities - self.velocities).max((1, 2))
        fastest = np.argsort(-changes, kind="stable")[: most // 2]
        others = np.setdiff1d(random.permutation(len(self.positions)), fastest, assume_unique=False)
        rest = random.permutation(others)[: most - len(fastest)]
        chosen = np.sort(np.concatenate([fastest, rest]))
        return Frames(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


def shoot(
    frames: Frames, forces: Forces, layout: Layout, space: Space, steps: Steps
) -> tuple[Path, Float[Tensor, "copies objects"]]:
    """The motion over each interval, and its squared error against the next frame.

    Velocities are lengths per frame, so both parts have the same unit.
    """
    copies = len(frames.positions)
    spread = forces._replace(
        strength=forces.strength.expand(copies, -1), walls=forces.walls.expand(copies, -1, -1, -1)
    )
    start = (torch.from_numpy(frames.positions), torch.from_numpy(frames.velocities))
    path = move(*start, spread, layout, space, frames.durations, steps)
    apart = path.positions[:, 0] - torch.from_numpy(frames.next_positions)
    faster = path.velocities[:, 0] - torch.from_numpy(frames.next_velocities)
    return path, apart.square().sum(-1) + faster.square().sum(-1)


@torch.no_grad()
def strengths(
    frames: Frames,
    forces: Forces,
    layout: Layout,
    space: Space,
    steps: Steps,
    spread: float,
    start: Float[np.ndarray, " groups"],
) -> tuple[Float[np.ndarray, " groups"], Float[np.ndarray, " groups"]]:
    """The strength of each system that best leads from frame to frame, and its deviation.

    If `start` has one for each object instead, so has the result.
    """
    value, deviation = start.copy(), np.full(len(start), spread)
    if not len(frames.positions):
        return value, deviation
    owner = np.repeat(np.arange(layout.systems), np.diff(layout.offsets))
    if len(start) == len(owner):
        owner = np.arange(len(start))
    target = np.concatenate([frames.next_positions, frames.next_velocities], axis=-1)

    def errors(strength: np.ndarray) -> np.ndarray:
        given = with_strengths(forces, layout, strength)
        path, _ = shoot(frames, given, layout, space, steps)
        states = torch.cat([path.positions[:, 0], path.velocities[:, 0]], dim=-1)
        return np.asarray(states.numpy() - target)

    prior = spread**-2
    for _ in range(ITERATIONS):
        nudge = NUDGE * np.maximum(np.abs(value), 0.1)
        low, high = errors(value - nudge), errors(value + nudge)
        left = (low + high) / 2
        slope = (high - low) / (2 * nudge[owner])[None, :, None]
        squares = (left**2).sum(-1)
        noise = _typical(squares, frames.counts, owner, len(start)) / left.shape[-1]
        weight = frames.counts * (FREEDOM + left.shape[-1])
        weight = weight / (FREEDOM * noise[owner] + squares)
        up = _summed(weight * (slope * left).sum(-1), owner, len(start))
        down = _summed(weight * (slope**2).sum(-1), owner, len(start))
        value = value - (up + prior * (value - 1)) / (down + prior)
        value = value.clip(1 - FARTHEST * spread, 1 + FARTHEST * spread)
        deviation = (down + prior) ** -0.5
    return value, deviation


def with_strengths(
    forces: Forces, layout: Layout, strength: Float[np.ndarray, " groups"]
) -> Forces:
    """The same forces with one strength for each system, or for each object, in all copies."""
    if len(strength) == layout.systems:
        return forces._replace(strength=torch.from_numpy(strength)[None])
    felt = torch.from_numpy(strength[layout.objects].T)
    return forces._replace(
        coupling=forces.coupling * felt[:, :, None], strength=torch.ones_like(forces.strength)
    )


def _typical(
    squares: np.ndarray, counts: np.ndarray, owner: np.ndarray, systems: int
) -> np.ndarray:
    """The median square of each system; 1 where none is known."""
    medians = np.ones(systems)
    for s in range(systems):
        own = owner == s
        known = squares[:, own][counts[:, own] > 0]
        known = known[~np.isnan(known)]
        if len(known):
            medians[s] = np.median(known)
    return np.maximum(np.nan_to_num(medians, nan=1.0), LEAST)


def _summed(values: np.ndarray, owner: np.ndarray, systems: int) -> np.ndarray:
    return np.bincount(owner, values.sum(0), minlength=systems)
