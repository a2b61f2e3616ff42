"""Motion under tabulated pair laws in fine steps, and its gradient: the compiled core.

The unit of work is one copy of one system over one interval between two outputs. Forward, each
interval is divided into equal steps, as many as its stiffness asks for. Backward, the steps are
undone one by one from the state at the interval's end, so nothing is stored within an interval.

A law is tabulated over the square of the distance in cells that the leading bits of a floating
point number name: every octave has `2**BITS` cells. Finding the cell of a distance takes a shift,
where knots in log r would take a logarithm. All compiled functions are in this one file because
numba's cache does not notice when a function in another file changes.
"""

from math import exp

from numba import njit

BITS = 6
"""Bits of the mantissa that name a cell: 64 cells per octave of the squared distance, which keep a power law
to eight digits."""
SHIFT = 52 - BITS
FRACTION = (1 << SHIFT) - 1
UNIT = 1.0 / (1 << SHIFT)

NONE, REFLECT, PERIODIC = 0, 1, 2
"""What is at the ends of an axis."""

MOST_DOUBLINGS = 40


@njit(cache=True, nogil=True, error_model="numpy")
def distances(q, ends, first, last, periods, apart, square, smallest):
    """Displacements and squared distances of the pairs `first` to `last`; the smallest so far."""
    for p in range(first, last):
        square[p - first] = 0.0
    for a in range(q.shape[0]):
        period = periods[a]
        if period > 0.0:
            for p in range(first, last):
                d = q[a, ends[0, p]] - q[a, ends[1, p]]
                d -= period * round(d / period)
                apart[a, p - first] = d
                square[p - first] += d * d
        else:
            for p in range(first, last):
                d = q[a, ends[0, p]] - q[a, ends[1, p]]
                apart[a, p - first] = d
                square[p - first] += d * d
    for p in range(last - first):
        if square[p] < smallest:
            smallest = square[p]
    return smallest


@njit(cache=True, nogil=True, error_model="numpy")
def factors(square, bits, table, origin, coupling, first, pairs, strength, factor):
    """Force over distance of each pair on either end; the largest, which is a squared frequency."""
    cells, laws = table.shape[0], table.shape[1]
    largest = 0.0
    for p in range(pairs):
        cell = (bits[p] >> SHIFT) - origin
        u = (bits[p] & FRACTION) * UNIT
        if cell < 0:
            cell, u = 0, 0.0
        elif cell >= cells:
            cell, u = cells - 1, 1.0
        v = 1.0 - u
        b0, b2 = v * v * (1.0 + 2.0 * u), v * v * u
        b1, b3 = u * u * (1.0 + 2.0 * v), -u * u * v
        towards, back = 0.0, 0.0
        for k in range(laws):
            g = b0 * table[cell, k, 0] + b1 * table[cell, k, 1]
            g += b2 * table[cell, k, 2] + b3 * table[cell, k, 3]
            towards += coupling[first + p, 0, k] * g
            back += coupling[first + p, 1, k] * g
        factor[0, p] = strength * towards
        factor[1, p] = strength * back
        size = abs(factor[0, p]) + abs(factor[1, p])
        if size > largest:
            largest = size
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def accelerations(q, ends, first, last, apart, factor, pull, push, begin, limit, acceleration):
    """Sum the pairs' forces and the outer ones, and clip every component to +-`limit`."""
    for a in range(q.shape[0]):
        for i in range(q.shape[1]):
            acceleration[a, i] = push[begin + i, a] - pull[begin + i] * q[a, i]
        for p in range(last - first):
            acceleration[a, ends[0, first + p]] += factor[0, p] * apart[a, p]
            acceleration[a, ends[1, first + p]] -= factor[1, p] * apart[a, p]
        for i in range(q.shape[1]):
            if acceleration[a, i] > limit:
                acceleration[a, i] = limit
            elif acceleration[a, i] < -limit:
                acceleration[a, i] = -limit


@njit(cache=True, nogil=True, error_model="numpy")
def damp(v, drag, begin, time):
    """Lose velocity to drag over `time`; a negative time undoes it."""
    for i in range(v.shape[1]):
        if drag[begin + i] != 0.0:
            kept = exp(-drag[begin + i] * time)
            for a in range(v.shape[0]):
                v[a, i] *= kept


@njit(cache=True, nogil=True, error_model="numpy")
def drift(q, v, time, walls, kinds):
    """Move freely, and mirror what is beyond a wall; a negative time undoes it."""
    for a in range(q.shape[0]):
        low, high = walls[a, 0], walls[a, 1]
        reflects = kinds[a] == REFLECT
        for i in range(q.shape[1]):
            x = q[a, i] + time * v[a, i]
            if reflects:
                if x > high:
                    x = 2.0 * high - x
                    v[a, i] = -v[a, i]
                elif x < low:
                    x = 2.0 * low - x
                    v[a, i] = -v[a, i]
            q[a, i] = x


@njit(cache=True, nogil=True, error_model="numpy")
def interval(
    q,
    v,
    steps,
    duration,
    lead,
    ends,
    first,
    last,
    periods,
    walls,
    kinds,
    table,
    origin,
    coupling,
    strength,
    drag,
    pull,
    push,
    limit,
    begin,
    apart,
    square,
    bits,
    factor,
    acceleration,
    watch,
):
    """Advance one system by `duration` in `steps` steps of kick, drift and kick.

    `lead` is 0 for a scheme whose velocities belong to the same time as its positions
    (Verlet), and 1/2 for one whose velocities lag by half a step (kick, then drift).
    `watch` receives the smallest squared distance and the largest squared frequency.
    """
    h = duration / steps
    for m in range(steps + 1):
        if m == 0:
            kick = (0.5 + lead) * h
        elif m == steps:
            kick = (0.5 - lead) * h
        else:
            kick = h
        if kick != 0.0:
            watch[0] = distances(q, ends, first, last, periods, apart, square, watch[0])
            size = factors(
                square, bits, table, origin, coupling, first, last - first, strength, factor
            )
            if size > watch[1]:
                watch[1] = size
            accelerations(
                q, ends, first, last, apart, factor, pull, push, begin, limit, acceleration
            )
            for a in range(q.shape[0]):
                for i in range(q.shape[1]):
                    v[a, i] += kick * acceleration[a, i]
        if m < steps:
            damp(v, drag, begin, 0.5 * h)
            drift(q, v, h, walls, kinds)
            damp(v, drag, begin, 0.5 * h)


@njit(cache=True, nogil=True, error_model="numpy")
def forward(
    start_q,
    start_v,
    durations,
    offsets,
    pair_offsets,
    ends,
    periods,
    walls,
    kinds,
    table,
    origin,
    coupling,
    strength,
    drag,
    pull,
    push,
    limit,
    lead,
    fewest,
    most,
    tolerance,
    out_q,
    out_v,
    used,
    closest,
    buffers,
    chosen,
):
    """All copies of the systems `chosen`; arrays are (copy, axis, object), see `operator`.

    An interval is repeated with more steps until a step is at most `tolerance` over the largest
    frequency met on the way, or has `most` steps.
    """
    apart, square, bits, factor, q_buffer, v_buffer, a_buffer, watch = buffers
    copies, axes = start_q.shape[0], start_q.shape[1]
    for number in range(chosen.shape[0]):
        s = chosen[number]
        begin, size = offsets[s], offsets[s + 1] - offsets[s]
        first, last = pair_offsets[s], pair_offsets[s + 1]
        q, v = q_buffer[:, :size], v_buffer[:, :size]
        for c in range(copies):
            for t in range(durations.shape[2]):
                duration = durations[c, s, t]
                steps = max(1, min(most, int(fewest * abs(duration) + 0.999999)))
                while True:
                    for a in range(axes):
                        for i in range(size):
                            if t == 0:
                                q[a, i] = start_q[c, a, begin + i]
                                v[a, i] = start_v[c, a, begin + i]
                            else:
                                q[a, i] = out_q[c, t - 1, a, begin + i]
                                v[a, i] = out_v[c, t - 1, a, begin + i]
                    watch[0], watch[1] = closest[c, s], 0.0
                    interval(
                        q,
                        v,
                        steps,
                        duration,
                        lead,
                        ends,
                        first,
                        last,
                        periods,
                        walls[c, s],
                        kinds,
                        table,
                        origin,
                        coupling,
                        strength[c, s],
                        drag,
                        pull,
                        push,
                        limit,
                        begin,
                        apart,
                        square,
                        bits,
                        factor,
                        a_buffer,
                        watch,
                    )
                    wanted = abs(duration) * watch[1] ** 0.5 / tolerance
                    if steps >= most or not wanted > steps:
                        break
                    more = 2 * steps
                    while more < wanted and more < most:
                        more *= 2
                    steps = min(more, most)
                closest[c, s] = watch[0]
                used[c, s, t] = steps
                for a in range(axes):
                    for i in range(size):
                        out_q[c, t, a, begin + i] = q[a, i]
                        out_v[c, t, a, begin + i] = v[a, i]


@njit(cache=True, nogil=True, error_model="numpy")
def pull_back_kick(
    v_bar,
    q_bar,
    kick,
    ends,
    first,
    last,
    apart,
    square,
    bits,
    table,
    origin,
    coupling,
    strength,
    factor,
    pull,
    begin,
    q,
    table_bar,
    coupling_bar,
    pull_bar,
    push_bar,
):
    """Gradient of one kick; returns that of the strength.

    `v_bar` is 0 where the acceleration was clipped. Uses displacements and factors of the same positions, as `accelerations` left them.
    """
    cells, laws, axes = table.shape[0], table.shape[1], q.shape[0]
    strength_bar = 0.0
    for i in range(q.shape[1]):
        for a in range(axes):
            moved = kick * v_bar[a, i]
            push_bar[begin + i, a] += moved
            pull_bar[begin + i] -= moved * q[a, i]
            q_bar[a, i] -= moved * pull[begin + i]
    for p in range(last - first):
        i, j = ends[0, first + p], ends[1, first + p]
        to_i, to_j = 0.0, 0.0
        for a in range(axes):
            to_i += v_bar[a, i] * apart[a, p]
            to_j -= v_bar[a, j] * apart[a, p]
        to_i *= kick
        to_j *= kick
        cell = (bits[p] >> SHIFT) - origin
        u = (bits[p] & FRACTION) * UNIT
        inside = True
        if cell < 0:
            cell, u, inside = 0, 0.0, False
        elif cell >= cells:
            cell, u, inside = cells - 1, 1.0, False
        w = 1.0 - u
        b0, b2 = w * w * (1.0 + 2.0 * u), w * w * u
        b1, b3 = u * u * (1.0 + 2.0 * w), -u * u * w
        slope = 0.0
        d0, d2, d3 = -6.0 * u * w, w * (1.0 - 3.0 * u), u * (3.0 * u - 2.0)
        for k in range(laws):
            entry, entry_bar = table[cell, k], table_bar[cell, k]
            g = b0 * entry[0] + b1 * entry[1] + b2 * entry[2] + b3 * entry[3]
            coupling_bar[first + p, 0, k] += strength * g * to_i
            coupling_bar[first + p, 1, k] += strength * g * to_j
            load = coupling[first + p, 0, k] * to_i + coupling[first + p, 1, k] * to_j
            strength_bar += load * g
            load *= strength
            entry_bar[0] += load * b0
            entry_bar[1] += load * b1
            entry_bar[2] += load * b2
            entry_bar[3] += load * b3
            slope += load * (d0 * (entry[0] - entry[1]) + d2 * entry[2] + d3 * entry[3])
        if inside:
            # du / d(square) is one over the cell's width.
            width = square[p] / ((1 << BITS) + ((bits[p] >> SHIFT) & ((1 << BITS) - 1)) + u)
            slope *= 2.0 / width
        else:
            slope = 0.0
        for a in range(axes):
            change = kick * (factor[0, p] * v_bar[a, i] - factor[1, p] * v_bar[a, j])
            change += slope * apart[a, p]
            q_bar[a, i] += change
            q_bar[a, j] -= change
    return strength_bar


@njit(cache=True, nogil=True, error_model="numpy")
def pull_back_damp(v, v_bar, drag, begin, time, drag_bar):
    """Undo `damp`, and its gradient."""
    for i in range(v.shape[1]):
        kept = exp(-drag[begin + i] * time)
        for a in range(v.shape[0]):
            drag_bar[begin + i] -= time * v_bar[a, i] * v[a, i]
            v[a, i] /= kept
            v_bar[a, i] *= kept


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def backward(
    durations,
    offsets,
    pair_offsets,
    ends,
    periods,
    walls,
    kinds,
    table,
    origin,
    coupling,
    strength,
    drag,
    pull,
    push,
    limit,
    lead,
    out_q,
    out_v,
    used,
    grad_q,
    grad_v,
    start_q_bar,
    start_v_bar,
    walls_bar,
    table_bar,
    coupling_bar,
    strength_bar,
    drag_bar,
    pull_bar,
    push_bar,
    buffers,
    bar_buffers,
    chosen,
):
    """Gradients of all inputs of `forward`, from those of its outputs."""
    apart, square, bits, factor, q_buffer, v_buffer, a_buffer, watch = buffers
    copies, axes = out_q.shape[0], out_q.shape[2]
    for number in range(chosen.shape[0]):
        s = chosen[number]
        begin, size = offsets[s], offsets[s + 1] - offsets[s]
        first, last = pair_offsets[s], pair_offsets[s + 1]
        q, v = q_buffer[:, :size], v_buffer[:, :size]
        q_bar, v_bar = bar_buffers[0, :, :size], bar_buffers[1, :, :size]
        free = bar_buffers[2, :, :size]
        for c in range(copies):
            q_bar[:] = 0.0
            v_bar[:] = 0.0
            for t in range(durations.shape[2] - 1, -1, -1):
                steps = used[c, s, t]
                h = durations[c, s, t] / steps
                for a in range(axes):
                    for i in range(size):
                        q[a, i] = out_q[c, t, a, begin + i]
                        v[a, i] = out_v[c, t, a, begin + i]
                        q_bar[a, i] += grad_q[c, t, a, begin + i]
                        v_bar[a, i] += grad_v[c, t, a, begin + i]
                for m in range(steps, -1, -1):
                    if m < steps:
                        pull_back_damp(v, v_bar, drag, begin, 0.5 * h, drag_bar)
                        pull_back_drift(q, v, q_bar, v_bar, h, walls[c, s], kinds, walls_bar[c, s])
                        pull_back_damp(v, v_bar, drag, begin, 0.5 * h, drag_bar)
                    if m == 0:
                        kick = (0.5 + lead) * h
                    elif m == steps:
                        kick = (0.5 - lead) * h
                    else:
                        kick = h
                    if kick == 0.0:
                        continue
                    distances(q, ends, first, last, periods, apart, square, 0.0)
                    factors(
                        square,
                        bits,
                        table,
                        origin,
                        coupling,
                        first,
                        last - first,
                        strength[c, s],
                        factor,
                    )
                    accelerations(
                        q, ends, first, last, apart, factor, pull, push, begin, limit, a_buffer
                    )
                    for a in range(axes):
                        for i in range(size):
                            v[a, i] -= kick * a_buffer[a, i]
                            clipped = abs(a_buffer[a, i]) >= limit
                            free[a, i] = 0.0 if clipped else v_bar[a, i]
                    strength_bar[c, s] += pull_back_kick(
                        free,
                        q_bar,
                        kick,
                        ends,
                        first,
                        last,
                        apart,
                        square,
                        bits,
                        table,
                        origin,
                        coupling,
                        strength[c, s],
                        factor,
                        pull,
                        begin,
                        q,
                        table_bar,
                        coupling_bar,
                        pull_bar,
                        push_bar,
                    )
            for a in range(axes):
                for i in range(size):
                    start_q_bar[c, a, begin + i] = q_bar[a, i]
                    start_v_bar[c, a, begin + i] = v_bar[a, i]
