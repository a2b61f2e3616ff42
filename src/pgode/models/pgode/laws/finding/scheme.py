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

NUMBERS = (1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 125, 160, 200, 250, 400, 500)
"""Steps per frame that are tried."""
TELLING = 0.05
"""Decrease of the mean log squared error that tells one number of steps from another."""
CLIPPED = 0.5
"""Decrease that a limit must bring: a law that is not yet exact gains a little from many things."""
LIMITS = 17
SECTIONS = 14
"""Limits that are tried over the range of accelerations, and refinements of the best."""


def find_scheme(
    trial: Trial,
    values: Float[np.ndarray, " unknowns"],
    most: int,
    tell: Callable[[float], None],
) -> tuple[Steps, float]:
    """Steps and limit with which the laws lead best from frame to frame."""

    def misfit(steps: Steps, limit: float) -> float:
        tried = replace(trial, steps=steps, space=trial.space._replace(limit=limit))
        return tried.misfit(values)

    fine = trial.steps._replace(lead=0.0, fewest=20.0, most=most)
    limit = _limit(trial, lambda value: misfit(fine, value))
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
    limit = _limit(trial, lambda value: misfit(fixed[best], value), limit)
    return fixed[best], limit


def _cheapest(fine: Steps, numbers: Iterable[int], misfit: Callable[[Steps], float]) -> Steps:
    """The fewest steps to begin with that do as well as twenty."""
    tried = [fine._replace(fewest=float(n)) for n in numbers if n <= fine.fewest]
    scores = [misfit(steps) for steps in tried]
    good = [
        steps for steps, score in zip(tried, scores, strict=True) if score < min(scores) + TELLING
    ]
    return good[0]


def _limit(trial: Trial, misfit: Callable[[float], float], near: float | None = None) -> float:
    """The largest component of an acceleration; infinite if no limit explains the data better."""
    frames = trial.frames
    faster = np.abs(frames.next_velocities - frames.velocities) / frames.durations[:, trial.owner]
    faster = faster[frames.counts > 0]
    if not faster.size or faster.max() <= 0:
        return np.inf
    if near is not None and np.isfinite(near):
        tried = near * np.geomspace(0.8, 1.25, 5)
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
    found = float(np.exp((low + high) / 2))
    return found if misfit(found) < misfit(np.inf) - CLIPPED else np.inf
