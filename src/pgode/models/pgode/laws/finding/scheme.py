"""How the data were made: steps per frame, lag of velocities, and a limit on accelerations.

Data from a simulator carry the traces of its integrator: velocities may lag behind positions by
half a step, and forces may be clipped. Both show in errors one frame ahead. Measured data show
neither, and are integrated by Verlet steps, as fine as encounters need.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from pgode.models.pgode.laws.finding.refinement import Trial
from pgode.models.pgode.laws.motion.force_kernel import Steps

NUMBERS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 160, 200, 250, 500, 1000)
"""Steps per frame that are tried."""
TELLING = 0.05
"""Decrease of the mean log squared error that tells one number of steps from another."""
CLIPPED = 0.5
"""Decrease that a limit must bring: a law that is not yet exact gains a little from many things."""
SMALLER, TOUCHED, SEVERAL = 1.0, 1e-2, 10
"""Or the median decrease where it changes anything, and in how many places it must."""
LIMITS, NEAR = 17, 15
SECTIONS = 14
"""Limits that are tried over the range of accelerations, or near one that is known roughly, and
refinements of the best."""


def find_scheme(
    trial: Trial,
    values: Float[np.ndarray, " unknowns"],
    most: int,
    tell: Callable[[float], None],
) -> tuple[Steps, float]:
    """Steps and limit with which the laws lead best from frame to frame."""

    def misfit(steps: Steps, limit: float) -> float:
        return _with(trial, steps, limit).misfit(values)

    fine = trial.steps._replace(lead=0.0, fewest=20.0, most=most)
    limit = find_limit(trial, values, fine)
    tell(0.3)
    reference = misfit(fine, limit)
    numbers = [n for n in NUMBERS if n <= most]
    fixed = [
        fine._replace(lead=lead, fewest=float(n), most=n) for lead in (0.5, 0.0) for n in numbers
    ]
    scores = []
    for place, steps in enumerate(fixed):
        scores.append(misfit(steps, limit))
        tell(0.3 + 0.5 * place / len(fixed))
    best = int(np.argmin(scores))
    if scores[best] > reference - TELLING:
        return _cheapest(fine, numbers, lambda steps: misfit(steps, limit)), limit
    return fixed[best], find_limit(trial, values, fixed[best], limit)


def find_limit(
    trial: Trial, values: Float[np.ndarray, " unknowns"], steps: Steps, near: float | None = None
) -> float:
    """The limit on accelerations; infinite if none explains much."""
    found = _limit(trial, lambda limit: _with(trial, steps, limit).misfit(values), near)
    free, clipped = (_with(trial, steps, limit).logs(values) for limit in (np.inf, found))
    return found if _explains(clipped - free) else np.inf


def _with(trial: Trial, steps: Steps, limit: float) -> Trial:
    return replace(trial, steps=steps, space=trial.space._replace(limit=limit))


def _explains(change: Float[np.ndarray, "copies objects"]) -> bool:
    """Whether a limit makes errors much smaller, on average or most of those that it touches."""
    touched = change[np.abs(change) > TOUCHED]
    several = len(touched) >= SEVERAL and float(np.median(touched)) < -SMALLER
    return bool(several or change.mean() < -CLIPPED)


def _cheapest(fine: Steps, numbers: Iterable[int], misfit: Callable[[Steps], float]) -> Steps:
    """The fewest steps to begin with that do as well as twenty."""
    tried = [fine._replace(fewest=float(n)) for n in numbers if n <= fine.fewest]
    scores = [misfit(steps) for steps in tried]
    good = [
        steps for steps, score in zip(tried, scores, strict=True) if score < min(scores) + TELLING
    ]
    return good[0]


def _limit(trial: Trial, misfit: Callable[[float], float], near: float | None = None) -> float:
    """The largest component of an acceleration that explains the data best."""
    frames = trial.frames
    faster = np.abs(frames.next_velocities - frames.velocities) / frames.durations[:, trial.owner]
    faster = faster[frames.counts > 0]
    if not faster.size or faster.max() <= 0:
        return np.inf
    if near is not None and np.isfinite(near):
        tried = near * np.geomspace(0.7, 1.4, NEAR)
    else:
        top = float(faster.max())
        tried = np.geomspace(np.quantile(faster, 0.5) + 1e-6 * top, 100 * top, LIMITS)
    scores = [misfit(value) for value in tried]
    best = int(np.clip(np.argmin(scores), 1, len(tried) - 2))
    low, high = np.log(tried[best - 1]), np.log(tried[best + 1])
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(SECTIONS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if misfit(float(np.exp(left))) < misfit(float(np.exp(right))):
            high = right
        else:
            low = left
    return float(np.exp((low + high) / 2))
