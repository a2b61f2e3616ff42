"""How long a forecast can be trusted: until small errors of its start have grown too much.

Two twins of each system start a little apart from it: one with its positions stretched about their
centre, one with its velocities. Errors of any start grow as the distances to the twins do. The
twins of a rotated, mirrored or reordered system are its rotated, mirrored or reordered twins.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from pgode.models.pgode.laws.motion.force_kernel import Layout

GROWTH = 1000.0
"""Growth of an error from which a forecast is not to be trusted."""
STRETCH = 1e-7
"""How far apart the twins start, against the size of their system."""
TWINS = 2


class Trust(NamedTuple):
    """Up to when each system is to be trusted, and the two objects whose encounter ends it."""

    until: Float[np.ndarray, " systems"]
    """The last of the forecast times before the growth, or the last of all."""
    pair: Bool[np.ndarray, " objects"]


def twins_of(
    start: Float[np.ndarray, "objects parts"], layout: Layout
) -> Float[np.ndarray, "twins objects parts"]:
    """Where the twins of each system start; positions come first, then velocities."""
    moved = STRETCH * _around(start, layout)
    twins = np.tile(start, (TWINS, 1, 1))
    for twin, part in zip(twins, np.split(np.arange(start.shape[1]), TWINS), strict=True):
        twin[:, part] += moved[:, part]
    return twins


def trust(
    start: Float[np.ndarray, "objects parts"],
    path: Float[np.ndarray, "outputs objects parts"],
    twins: Float[np.ndarray, "twins outputs objects parts"],
    times: Float[np.ndarray, "systems outputs"],
    layout: Layout,
) -> Trust:
    """Compare the path of every system with those of its twins."""
    axes = start.shape[1] // 2
    distance = np.sqrt(((twins - path) ** 2).sum(-1))
    until, pair = times[:, -1].copy(), np.zeros(len(start), bool)
    for s, (first, last) in enumerate(zip(layout.offsets[:-1], layout.offsets[1:], strict=True)):
        own = slice(first, last)
        growth = _growth(start[own], distance[:, :, own])
        late = np.flatnonzero(growth.max(1) > GROWTH)
        if not len(late):
            continue
        output = int(late[0])
        until[s] = times[s, output - 1] if output else 0.0
        before = path[output - 1, own, :axes] if output else start[own, :axes]
        worst = int(growth[output].argmax())
        pair[first + worst] = True
        if last - first > 1:
            pair[first + _nearest(before, path[output, own, :axes], worst)] = True
    return Trust(until, pair)


def _growth(
    start: Float[np.ndarray, "objects parts"],
    distance: Float[np.ndarray, "twins outputs objects"],
) -> Float[np.ndarray, "outputs objects"]:
    """The larger growth of the two twins' distances; 0 where a twin started at the same place."""
    halves = np.split(start, TWINS, axis=1)
    sizes = [float(np.sqrt(((x - x.mean(0)) ** 2).sum(-1).mean())) for x in halves]
    moved = [d / (STRETCH * size) for d, size in zip(distance, sizes, strict=True) if size > 0]
    return np.max(moved, axis=0, initial=0.0) if moved else np.zeros(distance.shape[1:])


def _around(values: Float[np.ndarray, "objects axes"], layout: Layout) -> np.ndarray:
    """Values less the mean of their system."""
    sizes = np.diff(layout.offsets)
    sums = np.add.reduceat(values, layout.offsets[:-1], axis=0)
    return values - np.repeat(sums / sizes[:, None], sizes, axis=0)


def _nearest(
    before: Float[np.ndarray, "objects axes"], after: Float[np.ndarray, "objects axes"], item: int
) -> int:
    """The object that comes closest to one of them between two frames, along straight lines."""
    begin, move = before - before[item], (after - before) - (after - before)[item]
    square = np.maximum((move**2).sum(-1), 1e-300)
    share = np.clip(-(begin * move).sum(-1) / square, 0.0, 1.0)
    distance = ((begin + share[:, None] * move) ** 2).sum(-1)
    distance[item] = np.inf
    return int(distance.argmin())
