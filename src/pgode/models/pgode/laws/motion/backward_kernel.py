"""The gradient of motion in fine steps, which are undone one by one: the compiled core.

Nothing is stored within an interval: its steps are retraced from the state at its end.
"""

from math import exp

from pgode.models.pgode.laws.compiled import VERSION, entry, inlined
from pgode.models.pgode.laws.motion.force_kernel import (
    BITS,
    REFLECT,
    SHIFT,
    accelerate,
    hermite,
    one_of,
    place_of,
)
from pgode.models.pgode.laws.motion.forward_kernel import share_of_kick


@inlined
def pull_back_kick(q, kick, one, bar, origin, room, q_bar, v_bar):
    """Gradient of one kick; returns that of the strength.

    `v_bar` is 0 where the acceleration was clipped. Uses displacements and factors of the same
    positions, as `accelerate` left them.
    """
    table, axes = one.table, q.shape[0]
    apart, factor = room.apart, room.factor
    strength_bar = 0.0
    for i in range(q.shape[1]):
        for a in range(axes):
            moved = kick * v_bar[a, i]
            bar.push[i, a] += moved
            bar.pull[i] -= moved * q[a, i]
            q_bar[a, i] -= moved * one.pull[i]
    for p in range(len(one.first)):
        i, j = one.first[p], one.second[p]
        to_i, to_j = 0.0, 0.0
        for a in range(axes):
            to_i += v_bar[a, i] * apart[a, p]
            to_j -= v_bar[a, j] * apart[a, p]
        to_i *= kick
        to_j *= kick
        bits = room.bits[p]
        cell, u, inside = place_of(bits, origin, table.shape[0])
        b0, b1, b2, b3 = hermite(u)
        w = 1.0 - u
        slope = 0.0
        d0, d2, d3 = -6.0 * u * w, w * (1.0 - 3.0 * u), u * (3.0 * u - 2.0)
        for k in range(table.shape[1]):
            at, at_bar = table[cell, k], bar.table[cell, k]
            g = b0 * at[0] + b1 * at[1] + b2 * at[2] + b3 * at[3]
            bar.coupling[p, 0, k] += one.strength * g * to_i
            bar.coupling[p, 1, k] += one.strength * g * to_j
            load = one.coupling[p, 0, k] * to_i + one.coupling[p, 1, k] * to_j
            strength_bar += load * g
            load *= one.strength
            at_bar[0] += load * b0
            at_bar[1] += load * b1
            at_bar[2] += load * b2
            at_bar[3] += load * b3
            slope += load * (d0 * (at[0] - at[1]) + d2 * at[2] + d3 * at[3])
        if inside:
            # du / d(square) is one over the cell's width.
            width = room.square[p] / ((1 << BITS) + ((bits >> SHIFT) & ((1 << BITS) - 1)) + u)
            slope *= 2.0 / width
        else:
            slope = 0.0
        for a in range(axes):
            change = kick * (factor[0, p] * v_bar[a, i] - factor[1, p] * v_bar[a, j])
            change += slope * apart[a, p]
            q_bar[a, i] += change
            q_bar[a, j] -= change
    return strength_bar


@inlined
def pull_back_damp(v, v_bar, drag, time, drag_bar):
    """Undo `damp`, and its gradient."""
    for i in range(v.shape[1]):
        kept = exp(-drag[i] * time)
        for a in range(v.shape[0]):
            drag_bar[i] -= time * v_bar[a, i] * v[a, i]
            v[a, i] /= kept
            v_bar[a, i] *= kept


@inlined
def pull_back_drift(q, v, q_bar, v_bar, time, walls, kinds, walls_bar):
    """Undo `drift`, and its gradient."""
    for a in range(q.shape[0]):
        low, high = walls[a, 0], walls[a, 1]
        reflects = kinds[a] == REFLECT
        for i in range(q.shape[1]):
            x = q[a, i] - time * v[a, i]
            if reflects and (x > high or x < low):
                side = 1 if x > high else 0
                x = 2.0 * walls[a, side] - x
                v[a, i] = -v[a, i]
                walls_bar[a, side] += 2.0 * q_bar[a, i]
                q_bar[a, i] = -q_bar[a, i]
                v_bar[a, i] = -v_bar[a, i]
            v_bar[a, i] += time * q_bar[a, i]
            q[a, i] = x


@inlined
def pull_back_interval(q, v, q_bar, v_bar, number, duration, lead, one, bar, space, room):
    """Undo all steps of an interval, and their gradient; returns that of the strength."""
    h, strength_bar = duration / number, 0.0
    free = room.bars[2, :, : q.shape[1]]
    for m in range(number, -1, -1):
        if m < number:
            pull_back_damp(v, v_bar, one.drag, 0.5 * h, bar.drag)
            pull_back_drift(q, v, q_bar, v_bar, h, one.walls, space.kinds, bar.walls)
            pull_back_damp(v, v_bar, one.drag, 0.5 * h, bar.drag)
        kick = share_of_kick(m, number, lead) * h
        if kick == 0.0:
            continue
        accelerate(q, one, space, room)
        for a in range(q.shape[0]):
            for i in range(q.shape[1]):
                v[a, i] -= kick * room.acceleration[a, i]
                clipped = abs(room.acceleration[a, i]) >= space.limit
                free[a, i] = 0.0 if clipped else v_bar[a, i]
        strength_bar += pull_back_kick(q, kick, one, bar, space.origin, room, q_bar, free)
    return strength_bar


@entry
def backward(
    grads,
    durations,
    layout,
    space,
    lead,
    arrays,
    out,
    used,
    start_bar,
    bars,
    room,
    chosen,
    version=VERSION,
):
    """Gradients of all inputs of `forward` into `start_bar` and `bars`, from those of `out`."""
    for s in chosen:
        begin, size = layout.offsets[s], layout.offsets[s + 1] - layout.offsets[s]
        own = slice(begin, begin + size)
        q, v = room.q[:, :size], room.v[:, :size]
        q_bar, v_bar = room.bars[0, :, :size], room.bars[1, :, :size]
        for c in range(out.q.shape[0]):
            one, bar = one_of(arrays, layout, c, s), one_of(bars, layout, c, s)
            q_bar[:] = 0.0
            v_bar[:] = 0.0
            for t in range(durations.shape[2] - 1, -1, -1):
                q[:] = out.q[c, t, :, own]
                v[:] = out.v[c, t, :, own]
                q_bar += grads.q[c, t, :, own]
                v_bar += grads.v[c, t, :, own]
                bars.strength[c, s] += pull_back_interval(
                    q,
                    v,
                    q_bar,
                    v_bar,
                    used[c, s, t],
                    durations[c, s, t],
                    lead,
                    one,
                    bar,
                    space,
                    room,
                )
            start_bar.q[c, :, own] = q_bar
            start_bar.v[c, :, own] = v_bar
