"""Reflecting walls: recognised in training data, and placed in each system by its own frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence.observation import Observation

TURNED = 0.1
"""A bounce turns a velocity around; forces may change it by this share on the way."""
FAST = 0.25
"""A bounce is looked for where an object moves faster than this share of the typical speed."""
FEWEST = 10
"""Bounces that make a wall."""
WIDER = 2.0
"""Deviation of a wall that no bounce shows, against that between training systems: the walls of
others may lie farther apart, as those of systems out of distribution do."""
NARROW = 0.05
"""Spread of the places where objects bounce, over the extent of the data, that a wall may have."""


@dataclass(frozen=True)
class Bounces:
    """Places where objects of one system turned around, by axis and side (0 low, 1 high)."""

    axis: Int[np.ndarray, " bounces"]
    side: Int[np.ndarray, " bounces"]
    place: Float[np.ndarray, " bounces"]


@dataclass(frozen=True)
class Walls:
    """Mean place of each wall over the training systems; infinite where there is none.

    `spread` is the deviation of places between systems. With `together`, all walls of a system
    lie outwards of their means by the same length, as those of a box of another size do.
    """

    places: Float[np.ndarray, "axes 2"]
    spread: float
    together: bool

    @property
    def any(self) -> bool:
        """Whether there are walls at all."""
        return bool(np.isfinite(self.places).any())


OUTWARDS = np.array([-1.0, 1.0])
"""Direction away from the middle, by side."""


def bounces(seen: Observation) -> Bounces:
    """Intervals in which a velocity was mirrored, with the place that mirrored the path.

    A path that ends at q1 instead of q0 + v0 was mirrored half-way between the two. No object is
    beyond that place, or it was no wall.
    """
    speed = np.abs(seen.velocities)
    fast = FAST * np.median(speed)
    v0, v1 = seen.velocities[:-1], seen.velocities[1:]
    turned = np.abs(v1 + v0) < TURNED * np.abs(v0)
    turned &= (np.abs(v0) > fast) & seen.usable[:, None, None]
    middle = (v0 - v1) / 2
    duration = seen.durations[:, None, None]
    place = (seen.positions[:-1] + middle * duration + seen.positions[1:]) / 2
    side = (v0 > 0).astype(int)
    turned &= OUTWARDS[side] * place >= reach(seen)[side, np.arange(seen.axes)]
    _, _, axis = np.nonzero(turned)
    return Bounces(axis, side[turned], place[turned])


def none(axes: int) -> Walls:
    """No walls at all."""
    return Walls(np.full((axes, 2), np.inf) * OUTWARDS, 0.0, False)


def recognise(seen: Sequence[Observation]) -> Walls:
    """Walls of the training data: places where many objects turn and beyond which none is."""
    axes = seen[0].axes
    found = [bounces(each) for each in seen]
    places = np.full((axes, 2), np.inf) * OUTWARDS
    outermost = np.array([reach(each) for each in seen]).max(0)
    size = float(outermost.sum(0).max())
    for axis in range(axes):
        for side in range(2):
            own = _by_system(found, axis, side)
            seen_at = own[np.isfinite(own)]
            if sum(((b.axis == axis) & (b.side == side)).sum() for b in found) < FEWEST:
                continue
            middle = float(np.median(seen_at))
            near = np.abs(seen_at - middle) < NARROW * size
            beyond = outermost[side, axis] > OUTWARDS[side] * middle + NARROW * size
            if near.mean() > 0.8 and not beyond:
                places[axis, side] = float(seen_at[near].mean())
    return Walls(places, *_spread(found, places, size))


def placed(seen: Observation, walls: Walls) -> tuple[Float[np.ndarray, "axes 2"], float]:
    """The walls of one system, and the deviation of their places from the true ones.

    A bounce shows where its wall is. Walls without one are at their mean, moved as the others are
    where walls move together, and never inside of an observed position.
    """
    if not walls.any:
        return walls.places, 0.0
    found = bounces(seen)
    shown = np.array(
        [[_middle(found, axis, side) for side in range(2)] for axis in range(seen.axes)]
    )
    outwards = (shown - walls.places) * OUTWARDS
    likely = np.abs(outwards) < 4 * walls.spread + 1e-9
    known = np.isfinite(outwards) & likely
    shift = float(np.median(outwards[known])) if known.any() and walls.together else 0.0
    outermost = reach(seen).T
    least = float((outermost - walls.places * OUTWARDS)[np.isfinite(walls.places)].max())
    if walls.together:
        shift = max(shift, least)
    chosen = np.where(known, shown, walls.places + shift * OUTWARDS)
    chosen = OUTWARDS * np.maximum(OUTWARDS * chosen, outermost)
    finite = np.isfinite(walls.places)
    certain = known.any() if walls.together else known[finite].all()
    return np.where(finite, chosen, walls.places), 0.0 if certain else WIDER * walls.spread


def reach(seen: Observation) -> Float[np.ndarray, "2 axes"]:
    """How far out objects were, towards each side."""
    low, high = seen.positions.min((0, 1)), seen.positions.max((0, 1))
    return np.stack([-low, high])


def _middle(found: Bounces, axis: int, side: int) -> float:
    own = found.place[(found.axis == axis) & (found.side == side)]
    return float(np.median(own)) if len(own) else np.nan


def _by_system(found: Sequence[Bounces], axis: int, side: int) -> Float[np.ndarray, " systems"]:
    return np.array([_middle(each, axis, side) for each in found])


def _spread(
    found: Sequence[Bounces], places: Float[np.ndarray, "axes 2"], size: float
) -> tuple[float, bool]:
    """Deviation of the places between systems, and whether walls of a system move together."""
    if not np.isfinite(places).any():
        return 0.0, False
    rows = []
    for axis, side in np.argwhere(np.isfinite(places)):
        own = _by_system(found, axis, side)
        outwards = (own - places[axis, side]) * OUTWARDS[side]
        rows.append(np.where(np.abs(outwards) < NARROW * size, outwards, np.nan))
    table = np.stack(rows, axis=1)
    spread = float(np.nanstd(table))
    several = np.isfinite(table).sum(1) > 1
    if not several.any():
        return spread, False
    within = float(np.nanstd(table[several] - np.nanmean(table[several], axis=1)[:, None]))
    return spread, within < 0.5 * spread
