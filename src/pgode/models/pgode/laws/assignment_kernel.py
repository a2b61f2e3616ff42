"""Which prototype each object is: a search over assignments with precomputed forces, compiled."""

from math import exp, log

import numpy as np
from numba import njit

from pgode.models.pgode.laws.evidence_kernel import POINTS, WEIGHTS, displacement, on_path
from pgode.models.pgode.laws.kernel import FRACTION, SHIFT, UNIT


@njit(cache=True, nogil=True, error_model="numpy")
def pair_changes(
    positions,
    velocities,
    durations,
    usable,
    receivers,
    senders,
    weights,
    table,
    origin,
    periods,
    out,
):
    """What each law would change for the receiver of each edge: (edge, law, interval, 2 * axes)."""
    frames, objects, axes = positions.shape
    cells = table.shape[0]
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    out[:] = 0.0
    for t in range(frames - 1):
        duration = durations[t]
        if not usable[t] or duration <= 0.0:
            continue
        for n in range(POINTS.shape[0]):
            u = POINTS[n]
            on_path(
                u, duration, positions[t], velocities[t], positions[t + 1], velocities[t + 1], q, v
            )
            whole = WEIGHTS[n] * duration
            moment = whole * (1 - u) * duration
            for e in range(receivers.shape[0]):
                square = displacement(q, receivers[e], senders[e], periods, d)
                bits = np.float64(square).view(np.int64)
                cell = (bits >> SHIFT) - origin
                x = (bits & FRACTION) * UNIT
                if cell < 0:
                    cell, x = 0, 0.0
                elif cell >= cells:
                    cell, x = cells - 1, 1.0
                y = 1.0 - x
                b0, b2 = y * y * (1.0 + 2.0 * x), y * y * x
                b1, b3 = x * x * (1.0 + 2.0 * y), -x * x * y
                for k in range(table.shape[1]):
                    g = b0 * table[cell, k, 0] + b1 * table[cell, k, 1]
                    g = weights[e] * (g + b2 * table[cell, k, 2] + b3 * table[cell, k, 3])
                    for a in range(axes):
                        out[e, k, t, a] += whole * g * d[a]
                        out[e, k, t, axes + a] += moment * g * d[a]


@njit(cache=True, nogil=True, error_model="numpy")
def unlikely(changes, force, drag, friction, strength, clear, noise, freedom):
    """Negative logarithm of the density of one object's changes, up to a constant."""
    total = 0.0
    parts = changes.shape[1]
    for t in range(changes.shape[0]):
        if clear[t]:
            square = 0.0
            for a in range(parts):
                left = changes[t, a] - strength * force[t, a] - friction * drag[t, a]
                square += left * left
            total += log(1.0 + square / (freedom * noise))
    return total * (freedom + parts) / 2


@njit(cache=True, nogil=True, error_model="numpy")
def set_forces(kinds, pairs, receivers, senders, laws, force):
    """Write the force on every object, at strength one."""
    force[:] = 0.0
    for e in range(receivers.shape[0]):
        i = receivers[e]
        force[i] += pairs[e, laws[kinds[i], kinds[senders[e]]]]


@njit(cache=True, nogil=True, error_model="numpy")
def fitted_strength(changes, force, drag, frictions, kinds, clear, noise, freedom, spread, start):
    """Robust regression of the changes on the forces, with a prior of deviation `spread` at 1."""
    strength = start
    objects, intervals, parts = changes.shape
    for _ in range(2):
        up, down = 1.0 / spread**2, 1.0 / spread**2
        for i in range(objects):
            for t in range(intervals):
                if not clear[t, i]:
                    continue
                square, along, power = 0.0, 0.0, 0.0
                for a in range(parts):
                    given = changes[i, t, a] - frictions[kinds[i]] * drag[i, t, a]
                    f = force[i, t, a]
                    square += (given - strength * f) ** 2
                    along += given * f
                    power += f * f
                weight = (freedom + parts) / (freedom * noise + square)
                up += weight * along
                down += weight * power
        strength = up / down
    return strength


@njit(cache=True, nogil=True, error_model="numpy")
def search(
    changes,
    drag,
    clear,
    pairs,
    receivers,
    senders,
    incoming,
    outgoing,
    laws,
    frictions,
    prior,
    noises,
    freedom,
    spread,
    vary,
    starts,
    draws,
    enough,
    usual,
    best,
):
    """Sample assignments with falling noise from each start; `best` gets the most probable.

    With much noise assumed, objects find a prototype that suits them roughly before others press.

    The search ends when `enough` starts led to the same best assignment and its score is `usual`. `incoming` and `outgoing` are (object, edges), padded by -1. Returns (score, strength).
    """
    objects, intervals, parts = changes.shape
    count = prior.shape[0]
    force, moved = np.empty((objects, intervals, parts)), np.empty((intervals, parts))
    own, kinds = np.empty(objects), np.empty(objects, np.int64)
    cost, ahead = np.empty(count), np.empty((count, objects))
    best_score, best_strength, hits = np.inf, 1.0, 0
    for number in range(starts.shape[0]):
        kinds[:] = starts[number]
        strength = 1.0
        for sweep in range(noises.shape[0]):
            noise = noises[sweep]
            set_forces(kinds, pairs, receivers, senders, laws, force)
            if vary:
                strength = fitted_strength(
                    changes, force, drag, frictions, kinds, clear, noise, freedom, spread, strength
                )
            for i in range(objects):
                own[i] = unlikely(
                    changes[i],
                    force[i],
                    drag[i],
                    frictions[kinds[i]],
                    strength,
                    clear[:, i],
                    noise,
                    freedom,
                )
            still = True
            for o in range(objects):
                for k in range(count):
                    moved[:] = 0.0
                    for c in range(incoming.shape[1]):
                        e = incoming[o, c]
                        if e >= 0:
                            moved += pairs[e, laws[k, kinds[senders[e]]]]
                    ahead[k, o] = unlikely(
                        changes[o],
                        moved,
                        drag[o],
                        frictions[k],
                        strength,
                        clear[:, o],
                        noise,
                        freedom,
                    )
                    total = ahead[k, o] - prior[k]
                    for c in range(outgoing.shape[1]):
                        e = outgoing[o, c]
                        if e < 0:
                            continue
                        i = receivers[e]
                        moved[:] = force[i]
                        if k != kinds[o]:
                            moved += pairs[e, laws[kinds[i], k]]
                            moved -= pairs[e, laws[kinds[i], kinds[o]]]
                            ahead[k, i] = unlikely(
                                changes[i],
                                moved,
                                drag[i],
                                frictions[kinds[i]],
                                strength,
                                clear[:, i],
                                noise,
                                freedom,
                            )
                        else:
                            ahead[k, i] = own[i]
                        total += ahead[k, i]
                    cost[k] = total
                low = cost.min()
                norm = 0.0
                for k in range(count):
                    cost[k] = exp(low - cost[k])
                    norm += cost[k]
                level, chosen = draws[number, sweep, o] * norm, 0
                while chosen < count - 1 and level > cost[chosen]:
                    level -= cost[chosen]
                    chosen += 1
                if chosen != kinds[o]:
                    still = False
                    for c in range(outgoing.shape[1]):
                        e = outgoing[o, c]
                        if e >= 0:
                            i = receivers[e]
                            force[i] += pairs[e, laws[kinds[i], chosen]]
                            force[i] -= pairs[e, laws[kinds[i], kinds[o]]]
                            own[i] = ahead[chosen, i]
                    kinds[o] = chosen
                    force[o] = 0.0
                    for c in range(incoming.shape[1]):
                        e = incoming[o, c]
                        if e >= 0:
                            force[o] += pairs[e, laws[chosen, kinds[senders[e]]]]
                    own[o] = ahead[chosen, o]
            if still and noise <= noises[-1]:
                break
        score = 0.0
        for i in range(objects):
            score += own[i] - prior[kinds[i]]
        same = True
        for i in range(objects):
            same = same and best[i] == kinds[i]
        if same:
            hits += 1
        elif score < best_score:
            hits = 1
            best[:] = kinds
        if score < best_score:
            best_score, best_strength = score, strength
        if hits >= enough and best_score <= usual:
            break
    return best_score, best_strength
