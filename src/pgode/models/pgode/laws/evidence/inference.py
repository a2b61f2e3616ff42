"""What a system's objects are, and how strong its forces: inferred from its observed frames.

The laws are linear in the weights of the prototypes and in the strength, so the observed changes
of velocity say how well each prototype suits an object. Prior shares times the likelihood of these
changes are the weights; the strength is a regression. Rotations, reflections, translations and
permutations of the data change nothing here.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.models.pgode.laws.evidence import assignment_kernel, evidence_kernel
from pgode.models.pgode.laws.evidence.observation import Observation

FREEDOM = 1.0
"""Degrees of freedom of the errors' distribution: heavy tails, because a close encounter or a wall
within one frame must not decide what an object is."""

STARTS, ENOUGH = 150, 3
"""Random assignments that the search for prototypes starts from at most, and how many of them must
lead to the same most probable result."""
FALLING, FINAL = 30, 10
"""Sweeps of the search while the assumed noise falls to its true size, and after that."""
LARGEST = 2e8
"""Bytes of precomputed forces up to which assignments are searched; else weights are relaxed."""
ROUNDS = 12
"""Updates of weights and strength, where weights are relaxed, the first of them softened."""
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
    usual: float = np.inf
    """Score per interval and object that training systems stay below."""


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
    """Weights and strength from all usable intervals, starting from `weights` if given.

    Without any, the weights are the prior shares and the strength is one.
    """
    kinds, edges = len(known.shares), len(seen.receivers)
    equal = np.tile(known.shares, (seen.objects, 1))
    if weights is not None or kinds == 1 or not seen.usable.any():
        begin = equal if weights is None else weights
        return _improved(seen, known, scope, begin, 1.0, heat, 2)
    room = 8 * edges * known.table.shape[1] * len(seen.durations) * 2 * seen.axes
    if room > LARGEST or not scope.objects:
        return _improved(seen, known, scope, equal, HOTTEST, heat, ROUNDS)
    assigned = np.eye(kinds)[_searched(seen, known, scope)]
    return _improved(seen, known, scope, assigned, 1.0, heat, 3)


def _searched(seen: Observation, known: Knowledge, scope: Scope) -> Int[np.ndarray, " objects"]:
    """The most probable prototype of every object, by a search over all together."""
    objects, intervals, parts = seen.objects, len(seen.durations), 2 * seen.axes
    pairs = np.empty((len(seen.receivers), known.table.shape[1], intervals, parts))
    evidence_kernel.pair_changes(seen.paths, known.table, known.origin, pairs)
    changes = seen.changes.reshape(intervals, objects, parts).swapaxes(0, 1)
    slower = -np.stack([np.diff(seen.positions, axis=0), _lost(seen)], axis=2)
    drag = slower.reshape(intervals, objects, parts).swapaxes(0, 1)
    random = np.random.default_rng(0)
    starts = random.choice(len(known.shares), (STARTS, objects), p=known.shares)
    most = max(float(np.median((changes**2).sum(-1))), known.noise)
    noises = np.append(np.geomspace(most, known.noise, FALLING), np.full(FINAL, known.noise))
    best = np.full(objects, -1, np.int64)
    given = assignment_kernel.Changes(
        observed=np.ascontiguousarray(changes),
        drag=np.ascontiguousarray(drag),
        pairs=pairs,
        clear=seen.clear,
        receivers=seen.receivers,
        senders=seen.senders,
        incoming=_edges_of(seen.receivers, objects),
        outgoing=_edges_of(seen.senders, objects),
    )
    logs = np.log(known.shares)
    prior = assignment_kernel.Prior(known.laws, known.drag, logs, known.spread, FREEDOM)
    draws = random.random((STARTS, len(noises), objects))
    usual = known.usual * seen.clear.sum()
    stop = (ENOUGH, float(usual))
    assignment_kernel.search(given, prior, noises, scope.strength, starts, draws, stop, best)
    return best


def _lost(seen: Observation) -> np.ndarray:
    """The second moment of the velocity along the cubic path: the path of a drag of one."""
    duration = seen.durations[:, None, None]
    start, stop = seen.positions[:-1], seen.positions[1:]
    v0, v1 = seen.velocities[:-1], seen.velocities[1:]
    mean = (start + stop) / 2 + (v0 - v1) * duration / 12
    return np.asarray((mean - start) * duration)


def _edges_of(ends: Int[np.ndarray, " edges"], objects: int) -> Int[np.ndarray, "objects most"]:
    """The edges at each object, padded by -1."""
    count = np.bincount(ends, minlength=objects)
    out = np.full((objects, max(int(count.max(initial=0)), 1)), -1, np.int64)
    order = np.argsort(ends, kind="stable")
    place = np.arange(len(ends)) - np.repeat(np.cumsum(count) - count, count)
    out[ends[order], place] = order
    return out


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
    laws = evidence_kernel.Tabulated(known.table, known.origin, known.laws, known.drag)
    evidence_kernel.integrals(seen.paths, laws, np.ascontiguousarray(weights), out)
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
