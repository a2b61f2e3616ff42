"""Which prototype each object is: a search over assignments with precomputed forces, compiled."""

from math import exp, log
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from pgode.models.pgode.laws.compiled import VERSION, entry, inner


class Changes(NamedTuple):
    """Observed changes of one system, and what drag and each law on each edge would change.

    The last axis holds the changes of the velocity, then those of the position. `incoming` and
    `outgoing` are the edges at each object, padded by -1.
    """

    observed: Float[ndarray, "objects intervals parts"]
    drag: Float[ndarray, "objects intervals parts"]
    pairs: Float[ndarray, "edges laws intervals parts"]
    clear: Bool[ndarray, "intervals objects"]
    receivers: Int[ndarray, " edges"]
    senders: Int[ndarray, " edges"]
    incoming: Int[ndarray, "objects most"]
    outgoing: Int[ndarray, "objects most"]


class Prior(NamedTuple):
    """What is known before: laws and drag of the prototypes, and how often each is met.

    Strengths have the deviation `spread` around one; errors have tails of `freedom`.
    """

    laws: Int[ndarray, "prototypes prototypes"]
    drag: Float[ndarray, " prototypes"]
    logs: Float[ndarray, " prototypes"]
    spread: float
    freedom: float


class Assignment(NamedTuple):
    """The prototype of each object, the force that follows, and how unlikely its changes are."""

    kinds: Int[ndarray, " objects"]
    force: Float[ndarray, "objects intervals parts"]
    unlikely: Float[ndarray, " objects"]


class Trials(NamedTuple):
    """Room for one object as each prototype: its cost, and how unlikely all changes would be."""

    cost: Float[ndarray, " prototypes"]
    unlikely: Float[ndarray, "prototypes objects"]
    force: Float[ndarray, "intervals parts"]


@inner
def unlikely(seen, prior, i, kind, force, strength, noise):
    """Negative logarithm of the density of one object's changes, up to a constant."""
    total = 0.0
    parts = force.shape[1]
    for t in range(force.shape[0]):
        if seen.clear[t, i]:
            square = 0.0
            for a in range(parts):
                left = seen.observed[i, t, a] - strength * force[t, a]
                left -= prior.drag[kind] * seen.drag[i, t, a]
                square += left * left
            total += log(1.0 + square / (prior.freedom * noise))
    return total * (prior.freedom + parts) / 2


@inner
def set_forces(seen, prior, now):
    """Write the force on every object, at strength one."""
    now.force[:] = 0.0
    for e in range(len(seen.receivers)):
        i = seen.receivers[e]
        now.force[i] += seen.pairs[e, prior.laws[now.kinds[i], now.kinds[seen.senders[e]]]]


@inner
def force_as(seen, prior, now, i, kind, force):
    """Write the force on one object, were it of the given prototype."""
    force[:] = 0.0
    for e in seen.incoming[i]:
        if e >= 0:
            force += seen.pairs[e, prior.laws[kind, now.kinds[seen.senders[e]]]]


@inner
def fitted_strength(seen, prior, now, noise, start):
    """Robust regression of the changes on the forces, pulled towards one by the prior."""
    strength = start
    objects, intervals, parts = seen.observed.shape
    for _ in range(2):
        up, down = 1.0 / prior.spread**2, 1.0 / prior.spread**2
        for i in range(objects):
            for t in range(intervals):
                if not seen.clear[t, i]:
                    continue
                square, along, power = 0.0, 0.0, 0.0
                for a in range(parts):
                    given = seen.observed[i, t, a] - prior.drag[now.kinds[i]] * seen.drag[i, t, a]
                    f = now.force[i, t, a]
                    square += (given - strength * f) ** 2
                    along += given * f
                    power += f * f
                weight = (prior.freedom + parts) / (prior.freedom * noise + square)
                up += weight * along
                down += weight * power
        strength = up / down
    return strength


@inner
def try_all(seen, prior, now, o, strength, noise, trials):
    """The cost of each prototype of object `o`: it and all that it acts on become less likely."""
    force = trials.force
    for k in range(len(trials.cost)):
        force_as(seen, prior, now, o, k, force)
        trials.unlikely[k, o] = unlikely(seen, prior, o, k, force, strength, noise)
        total = trials.unlikely[k, o] - prior.logs[k]
        for e in seen.outgoing[o]:
            if e < 0:
                continue
            i = seen.receivers[e]
            kind = now.kinds[i]
            if k == now.kinds[o]:
                trials.unlikely[k, i] = now.unlikely[i]
            else:
                force[:] = now.force[i]
                force += seen.pairs[e, prior.laws[kind, k]]
                force -= seen.pairs[e, prior.laws[kind, now.kinds[o]]]
                trials.unlikely[k, i] = unlikely(seen, prior, i, kind, force, strength, noise)
            total += trials.unlikely[k, i]
        trials.cost[k] = total


@inner
def drawn(cost, share):
    """A prototype, drawn with probabilities that fall with the exponential of the cost."""
    low, norm = cost.min(), 0.0
    for k in range(len(cost)):
        cost[k] = exp(low - cost[k])
        norm += cost[k]
    level, chosen = share * norm, 0
    while chosen < len(cost) - 1 and level > cost[chosen]:
        level -= cost[chosen]
        chosen += 1
    return chosen


@inner
def assign(seen, prior, now, o, chosen, trials):
    """Give object `o` another prototype."""
    for e in seen.outgoing[o]:
        if e >= 0:
            i = seen.receivers[e]
            now.force[i] += seen.pairs[e, prior.laws[now.kinds[i], chosen]]
            now.force[i] -= seen.pairs[e, prior.laws[now.kinds[i], now.kinds[o]]]
            now.unlikely[i] = trials.unlikely[chosen, i]
    now.kinds[o] = chosen
    force_as(seen, prior, now, o, chosen, now.force[o])
    now.unlikely[o] = trials.unlikely[chosen, o]


@inner
def sweep(seen, prior, now, strength, noise, shares, trials):
    """Draw a prototype for each object in turn; returns whether none changed."""
    still = True
    for o in range(len(now.kinds)):
        try_all(seen, prior, now, o, strength, noise, trials)
        chosen = drawn(trials.cost, shares[o])
        if chosen != now.kinds[o]:
            still = False
            assign(seen, prior, now, o, chosen, trials)
    return still


@entry
def search(seen, prior, noises, vary, starts, draws, stop, best, version=VERSION):
    """Sample assignments with falling noise from each start; `best` gets the most probable.

    With much noise assumed, objects find a prototype that suits them roughly before others press.
    The search ends when as many starts as `stop` says led to the same best assignment, and its
    score is not above the one it says. With `vary` the strength of the system is fitted, too.
    """
    objects, intervals, parts = seen.observed.shape
    count = len(prior.logs)
    now = Assignment(
        np.empty(objects, np.int64), np.empty((objects, intervals, parts)), np.empty(objects)
    )
    trials = Trials(np.empty(count), np.empty((count, objects)), np.empty((intervals, parts)))
    best_score, hits = np.inf, 0
    for number in range(len(starts)):
        now.kinds[:] = starts[number]
        strength = 1.0
        for turn in range(len(noises)):
            noise = noises[turn]
            set_forces(seen, prior, now)
            if vary:
                strength = fitted_strength(seen, prior, now, noise, strength)
            for i in range(objects):
                kind = now.kinds[i]
                now.unlikely[i] = unlikely(seen, prior, i, kind, now.force[i], strength, noise)
            still = sweep(seen, prior, now, strength, noise, draws[number, turn], trials)
            if still and noise <= noises[-1]:
                break
        score, same = 0.0, True
        for i in range(objects):
            score += now.unlikely[i] - prior.logs[now.kinds[i]]
            same = same and best[i] == now.kinds[i]
        if same:
            hits += 1
        elif score < best_score:
            hits = 1
            best[:] = now.kinds
        best_score = min(best_score, score)
        if hits >= stop[0] and best_score <= stop[1]:
            break
