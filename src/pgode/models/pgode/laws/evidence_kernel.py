"""What observed frames say about forces: integrals of the laws along observed paths, compiled.

Between two frames an object's path is close to the cubic through both positions and velocities.
The integral of the acceleration along it is the change of the velocity, and a second moment gives
that of the position: two equations per frame, object and axis, without solving any motion.
"""

from math import exp, floor, log

import numpy as np
from numba import njit

from pgode.models.pgode.laws.kernel import FRACTION, SHIFT, UNIT

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


@njit(cache=True, nogil=True, error_model="numpy")
def on_path(u, duration, q0, v0, q1, v1, q, v):
    """Positions and velocities at the share `u` of an interval, on the cubics of all objects."""
    h00, h10 = (1 + 2 * u) * (1 - u) ** 2, u * (1 - u) ** 2 * duration
    h01, h11 = u * u * (3 - 2 * u), u * u * (u - 1) * duration
    d00, d10 = 6 * u * (u - 1) / duration, (1 - u) * (1 - 3 * u)
    d11 = u * (3 * u - 2)
    for i in range(q.shape[0]):
        for a in range(q.shape[1]):
            q[i, a] = h00 * q0[i, a] + h10 * v0[i, a] + h01 * q1[i, a] + h11 * v1[i, a]
            v[i, a] = d00 * (q0[i, a] - q1[i, a]) + d10 * v0[i, a] + d11 * v1[i, a]


@njit(cache=True, nogil=True, error_model="numpy")
def displacement(q, i, j, periods, d):
    """Write q_i - q_j into `d`; return its squared length."""
    square = 0.0
    for a in range(q.shape[1]):
        x = q[i, a] - q[j, a]
        if periods[a] > 0.0:
            x -= periods[a] * round(x / periods[a])
        d[a] = x
        square += x * x
    return square


@njit(cache=True, nogil=True, error_model="numpy")
def sharpness(positions, velocities, durations, usable, receivers, senders, periods, out):
    """How far a pair's relative velocity would carry it by its change alone, over its distance.

    The largest over an object's pairs, for each interval: where it is near one, the path between
    two frames bends too much for a cubic.
    """
    frames, objects, axes = positions.shape
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    nearest = np.empty(receivers.shape[0])
    out[:] = 0.0
    for t in range(frames - 1):
        duration = durations[t]
        if not usable[t] or duration <= 0.0:
            continue
        nearest[:] = np.inf
        for u in (0.0, 0.25, 0.5, 0.75, 1.0):
            on_path(
                u, duration, positions[t], velocities[t], positions[t + 1], velocities[t + 1], q, v
            )
            for e in range(receivers.shape[0]):
                square = displacement(q, receivers[e], senders[e], periods, d)
                nearest[e] = min(nearest[e], square)
        for e in range(receivers.shape[0]):
            i, j = receivers[e], senders[e]
            change = 0.0
            for a in range(axes):
                faster = velocities[t + 1, i, a] - velocities[t, i, a]
                change += (faster - velocities[t + 1, j, a] + velocities[t, j, a]) ** 2
            bend = (change / max(nearest[e], 1e-300)) ** 0.5 * duration
            out[t, i] = max(out[t, i], bend)
            out[t, j] = max(out[t, j], bend)


@njit(cache=True, nogil=True, error_model="numpy")
def integrals(
    positions,
    velocities,
    durations,
    usable,
    receivers,
    senders,
    weights,
    mixture,
    laws,
    table,
    origin,
    drag,
    periods,
    out,
):
    """Change of velocity, and of position beyond free flight, that each prototype would feel.

    One system: `positions` and `velocities` are (frame, object, axis); `laws[k, l]` is the law by
    which prototype k feels prototype l; `mixture` (object, prototype) are the weights of senders.
    `out` is (interval, object, prototype, 2 equations, axis, 2): the pair forces, and the drag.
    """
    frames, objects, axes = positions.shape
    kinds, cells = mixture.shape[1], table.shape[0]
    q, v = np.empty((objects, axes)), np.empty((objects, axes))
    d, g = np.empty(axes), np.empty(table.shape[1])
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
                i, j = receivers[e], senders[e]
                square = displacement(q, i, j, periods, d)
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
                    g[k] = weights[e] * (
                        b0 * table[cell, k, 0]
                        + b1 * table[cell, k, 1]
                        + b2 * table[cell, k, 2]
                        + b3 * table[cell, k, 3]
                    )
                for k in range(kinds):
                    factor = 0.0
                    for m in range(kinds):
                        factor += mixture[j, m] * g[laws[k, m]]
                    for a in range(axes):
                        out[t, i, k, 0, a, 0] += whole * factor * d[a]
                        out[t, i, k, 1, a, 0] += moment * factor * d[a]
            for i in range(objects):
                for k in range(kinds):
                    for a in range(axes):
                        out[t, i, k, 0, a, 1] -= whole * drag[k] * v[i, a]
                        out[t, i, k, 1, a, 1] -= moment * drag[k] * v[i, a]


@njit(cache=True, nogil=True, error_model="numpy")
def design(
    positions,
    velocities,
    durations,
    usable,
    receivers,
    senders,
    weights,
    mixture,
    laws,
    exponents,
    low,
    spacing,
    splines,
    periods,
    out,
):
    """The same integrals for each spline of each law: the columns of a regression.

    `out` is (interval, object, prototype, 2, axis, prototype * splines + 1): the spline of the law
    with each other prototype, and the drag. Splines are cubic, uniform in the logarithm of the
    distance, and multiply the distance to the power of the law's exponent.
    """
    frames, objects, axes = positions.shape
    kinds = mixture.shape[1]
    q, v = np.empty((objects, axes)), np.empty((objects, axes))
    d, basis = np.empty(axes), np.empty(4)
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
                i, j = receivers[e], senders[e]
                square = displacement(q, i, j, periods, d)
                x = 0.5 * log(max(square, 1e-300))
                place = (x - low) / spacing
                cell = int(floor(place))
                if cell < 0:
                    cell, place = 0, 0.0
                elif cell > splines - 4:
                    cell, place = splines - 4, splines - 3.0
                s = place - cell
                basis[0] = (1 - s) ** 3 / 6
                basis[1] = (3 * s**3 - 6 * s * s + 4) / 6
                basis[2] = (-3 * s**3 + 3 * s * s + 3 * s + 1) / 6
                basis[3] = s**3 / 6
                for k in range(kinds):
                    for m in range(kinds):
                        share = mixture[j, m] * weights[e]
                        if share == 0.0:
                            continue
                        share *= exp((exponents[laws[k, m]] - 1.0) * x)
                        for b in range(4):
                            value = share * basis[b]
                            column = m * splines + cell + b
                            for a in range(axes):
                                out[t, i, k, 0, a, column] += whole * value * d[a]
                                out[t, i, k, 1, a, column] += moment * value * d[a]
            for i in range(objects):
                for k in range(kinds):
                    for a in range(axes):
                        out[t, i, k, 0, a, kinds * splines] -= whole * v[i, a]
                        out[t, i, k, 1, a, kinds * splines] -= moment * v[i, a]
