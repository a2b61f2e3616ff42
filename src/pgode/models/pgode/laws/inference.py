"""What a system's objects are, and how strong its forces: inferred from its observed frames.

The laws are linear in the weights of the prototypes and in the strength, so the observed changes
of velocity say how well each prototype suits an object. Prior shares times the likelihood of these
changes are the weights; the strength is a regression. Rotations, reflections, translations and
permutations of the data change nothing here.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws import evidence_kernel
from pgode.models.pgode.laws.observation import Observation

FREEDOM = 1.0
"""Degrees of freedom of the errors' distribution: heavy tails, because a close encounter or a wall
within one frame must not decide what an object is."""

STARTS = 3
"""Mixtures that the weights are inferred from; the most probable result counts."""
ROUNDS = 12
"""Updates of weights and strength, the first of them softened."""
HOTTEST = 16.0
"""Factor by which the first update softens the evidence."""
STEADY = 1e-4
"""Change of the weights below which they are final."""


@dataclass(frozen=True)
class Knowledge:
    """What training found: laws, drag and shares of the prototypes, and sizes of errors.

    `laws[k, l]` is the number of the law by which prototype k feels prototype l; `noise` is the
    squared error of an observed change; `spread` the deviation of strengths around one.
    """

    table: Float[np.ndarray, "cells laws 4"]
    origin: int
    laws: Int[np.ndarray, "prototypes prototypes"]
    drag: Float[np.ndarray, " prototypes"]
    shares: Float[np.ndarray, " prototypes"]
    noise: float
    spread: float
    periods: Float[np.ndarray, " axes"]


@dataclass(frozen=True)
class Inferred:
    """Weights of the prototypes for each object, strength of the system, and what is left over."""

    weights: Float[np.ndarray, "objects prototypes"]
    strength: float
    deviation: float
    """Standard deviation of the strength."""
    squares: Float[np.ndarray, "intervals objects prototypes"]
    """Squared error of each observed change under each prototype."""
    score: float
    """Negative logarithm of the probability, up to a constant: lower is better."""


@dataclass(frozen=True)
class Scope:
    """Which parts are inferred: weights of each object or one set for all, and the strength."""

    objects: bool = True
    strength: bool = True


def infer(
    seen: Observation,
    known: Knowledge,
    scope: Scope,
    weights: Float[np.ndarray, "objects prototypes"] | None = None,
    *,
    heat: float = 1.0,
) -> Inferred:
    """Weights and strength from all usable intervals, starting from `weights` if given."""
    if weights is not None or len(known.shares) == 1:
        begin = np.tile(known.shares, (seen.objects, 1)) if weights is None else weights
        return _improved(seen, known, scope, begin, 1.0, heat, 2)
    best: Inferred | None = None
    for start in range(STARTS):
        random = np.random.default_rng(start)
        drawn = random.dirichlet(8 * known.shares + 1e-3, seen.objects)
        begin = np.tile(known.shares, (seen.objects, 1)) if start == 0 else drawn
        found = _improved(seen, known, scope, begin, HOTTEST, heat, ROUNDS)
        best = found if best is None or found.score < best.score else best
    assert best is not None
    return best


def _improved(
    seen: Observation,
    known: Knowledge,
    scope: Scope,
    weights: Float[np.ndarray, "objects prototypes"],
    hottest: float,
    heat: float,
    rounds: int,
) -> Inferred:
    """Alternate between strength and weights; the first rounds are hotter, see `HOTTEST`."""
    changes, strength, deviation = seen.changes, 1.0, known.spread
    prior = np.log(known.shares)
    for number in range(rounds):
        force, drag = felt(seen, known, weights)
        if scope.strength:
            mixed = [np.einsum("tikea,ik->tiea", part, weights) for part in (force, drag)]
            clear = seen.clear[:, :, None, None]
            parts = (clear * (changes - mixed[1]), clear * mixed[0])
            strength, deviation = _strength(*parts, strength, known)
        left = changes[:, :, None] - strength * force - drag
        squares = (left**2).sum((3, 4))
        unlikely = unlikeliness(squares, known.noise, seen.axes)
        evidence = -(unlikely * seen.clear[:, :, None]).sum(0)
        softened = max(heat, hottest ** (1 - 2 * number / rounds))
        logits = prior + evidence / softened
        if not scope.objects:
            logits = np.tile(logits.mean(0), (seen.objects, 1))
        new = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
        moved, weights = np.abs(new - weights).max(), new
        if moved < STEADY and softened <= max(heat, 1.0):
            break
    entropy = np.where(weights > 0, weights * np.log(np.maximum(weights, 1e-300)), 0.0)
    score = float((entropy - weights * (prior + evidence)).sum())
    return Inferred(weights, strength, deviation, squares, score)


def felt(
    seen: Observation, known: Knowledge, weights: Float[np.ndarray, "objects prototypes"]
) -> tuple[np.ndarray, np.ndarray]:
    """What pair forces and drag change, were an object each prototype in turn.

    Both are (interval, object, prototype, 2 equations, axis), see `evidence_kernel.integrals`.
    """
    shape = (len(seen.durations), seen.objects, weights.shape[1], 2, seen.axes, 2)
    out = np.empty(shape)
    evidence_kernel.integrals(
        *(seen.positions, seen.velocities, seen.durations, seen.usable),
        *(seen.receivers, seen.senders, seen.weights, np.ascontiguousarray(weights)),
        *(known.laws, known.table, known.origin, known.drag, known.periods, out),
    )
    return out[..., 0], out[..., 1]


def unlikeliness(squares: np.ndarray, noise: float, axes: int) -> np.ndarray:
    """Negative logarithm of the errors' density, up to a constant."""
    return np.asarray((FREEDOM + 2 * axes) / 2 * np.log1p(squares / (FREEDOM * noise)))


def trust(squares: np.ndarray, noise: float, axes: int) -> np.ndarray:
    """The weight of each change in a regression: small where its error is large."""
    return np.asarray((FREEDOM + 2 * axes) / (FREEDOM * noise + squares))


def _strength(
    changes: np.ndarray, force: np.ndarray, strength: float, known: Knowledge
) -> tuple[float, float]:
    """Regress changes on the force at strength one, with the prior's pull towards one."""
    precision = 1 / known.spread**2
    axes = changes.shape[-1]
    inverse = precision
    for _ in range(3):
        squares = ((changes - strength * force) ** 2).sum((2, 3))
        weight = trust(squares, known.noise, axes)[:, :, None, None]
        inverse = float((weight * force**2).sum()) + precision
        strength = float(((weight * force * changes).sum() + precision) / inverse)
    return strength, inverse**-0.5
