"""The frames of each system: the union of the times of its rows, with gaps filled in.

Where times are regular, a time that no row has is a frame at which nothing was observed. Otherwise
a model would take the frame after a gap for the next one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

REGULAR = 0.05
"""Times are regular if all steps are whole multiples of the shortest within this share of it."""
SPARSE = 20
"""Gaps are filled only if that makes at most this many times as many frames."""
TABLE = 2 * 10**8
"""Largest table of (system, time) pairs, in bytes; beyond it pairs are sorted instead."""


@dataclass(frozen=True)
class Frames:
    """The frames of all systems, one system after the other, and the frame of each row.

    `step` is the time between two frames, 0 where it is not regular.
    """

    of_row: Int[np.ndarray, " row"]
    first: Int[np.ndarray, " system"]
    count: Int[np.ndarray, " system"]
    times: Float[np.ndarray, " frame"]
    step: float
    shortest: float
    filled: int


def frames_of(
    system: Int[np.ndarray, " row"],
    times: Float[np.ndarray, " row"],
    systems: int,
    step: float = 0.0,
) -> Frames:
    """The frames of each system. `step` is the time step of other tables of this form, if known."""
    import pandas as pd

    code, unique = pd.factorize(times, sort=True)
    pairs, place = _pairs(system * len(unique) + code, systems * len(unique))
    owner, moment = pairs // len(unique), unique[pairs % len(unique)]
    same = owner[1:] == owner[:-1]
    steps = np.diff(moment)[same]
    shortest = float(steps.min(initial=np.inf))
    regular = step or _regular_step(steps, shortest)
    ahead = np.ones(len(same), dtype=np.int64)
    if regular:
        ratio = np.round(steps / regular).astype(np.int64)
        uneven = np.abs(steps / regular - ratio).max(initial=0.0) > REGULAR
        if uneven or ratio.min(initial=1) < 1 or ratio.sum() > SPARSE * len(pairs):
            regular = 0.0
        else:
            ahead[same] = ratio
    position = np.concatenate([[0], np.cumsum(ahead)])
    start = np.searchsorted(owner, np.arange(systems))
    end = np.append(start[1:], len(pairs)) - 1
    total = int(position[-1]) + 1
    clock = np.interp(np.arange(total), position, moment)
    first = position[start]
    return Frames(
        of_row=(position - first[owner])[place],
        first=first,
        count=position[end] - first + 1,
        times=clock,
        step=regular,
        shortest=shortest,
        filled=total - len(pairs),
    )


def _regular_step(steps: Float[np.ndarray, " step"], shortest: float) -> float:
    """The time step if all steps are whole multiples of it, else 0.

    The median of the single steps, since times in a file are rounded: 30 frames a second are 0.033
    or 0.034 apart.
    """
    if not len(steps):
        return 0.0
    return float(f"{np.median(steps[steps < 1.5 * shortest]):.9g}")


def _pairs(
    keys: Int[np.ndarray, " row"], size: int
) -> tuple[Int[np.ndarray, " pair"], Int[np.ndarray, " row"]]:
    """The different keys in order, and the place of each row's key among them."""
    if size > TABLE:
        pairs, place = np.unique(keys, return_inverse=True)
        return pairs, place.reshape(-1)
    seen = np.zeros(size, dtype=bool)
    seen[keys] = True
    pairs = np.flatnonzero(seen)
    rank = np.zeros(size, dtype=np.int32)
    rank[pairs] = np.arange(len(pairs))
    return pairs, rank[keys].astype(np.int64)
