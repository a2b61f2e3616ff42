"""What observed frames say about forces: integrals of the laws along observed paths, compiled.

Between two frames an object's path is close to the cubic through both positions and velocities.
The integral of the acceleration along it is the change of the velocity, and a second moment gives
that of the position: two equations per frame, object and axis, without solving any motion.
"""

from math import exp, floor, log
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from pgode.models.pgode.laws.compiled import VERSION, entry, inner
from pgode.models.pgode.laws.motion.force_kernel import hermite, place_of

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2


class Paths(NamedTuple):
    """The frames of one system, which intervals between them are known, and its edges."""

    positions: Float[ndarray, "frames objects axes"]
    velocities: Float[ndarray, "frames objects axes"]
    durations: Float[ndarray, " frames-1"]
    usable: Bool[ndarray, " frames-1"]
    receivers: Int[ndarray, " edges"]
    senders: Int[ndarray, " edges"]
    weights: Float[ndarray, " edges"]
    periods: Float[ndarray, " axes"]


class Tabulated(NamedTuple):
    """Laws as `motion.table` holds them; `laws[k, l]` is that by which prototype k feels l."""

    table: Float[ndarray, "cells laws 4"]
    origin: int
    laws: Int[ndarray, "prototypes prototypes"]
    drag: Float[ndarray, " prototypes"]


class Splines(NamedTuple):
    """Exponents of the laws, and the cubic splines in log r that multiply the powers."""

    exponents: Float[ndarray, " laws"]
    low: float
    spacing: float
    number: int


class Moment(NamedTuple):
    """States of all objects at one moment, and the moment's weights in both integrals."""

    q: Float[ndarray, "objects axes"]
    v: Float[ndarray, "objects axes"]
    whole: float
    moment: float


@inner
def known(paths, t):
    """Whether forces show between frame `t` and the next."""
    return paths.usable[t] and paths.durations[t] > 0.0


@inner
def states_at(paths, t, u, q, v):
    """Write the states at the share `u` of interval `t`, on the cubics of all objects."""
    duration = paths.durations[t]
    q0, q1 = paths.positions[t], paths.positions[t + 1]
    v0, v1 = paths.velocities[t], paths.velocities[t + 1]
    h00, h10 = (1 + 2 * u) * (1 - u) ** 2, u * (1 - u) ** 2 * duration
    h01, h11 = u * u * (3 - 2 * u), u * u * (u - 1) * duration
    d00, d10 = 6 * u * (u - 1) / duration, (1 - u) * (1 - 3 * u)
    d11 = u * (3 * u - 2)
    for i in range(q.shape[0]):
        for a in range(q.shape[1]):
            q[i, a] = h00 * q0[i, a] + h10 * v0[i, a] + h01 * q1[i, a] + h11 * v1[i, a]
            v[i, a] = d00 * (q0[i, a] - q1[i, a]) + d10 * v0[i, a] + d11 * v1[i, a]


@inner
def at_point(paths, t, n, q, v):
    """The states at point `n` of the quadrature of interval `t`."""
    u, duration = POINTS[n], paths.durations[t]
    states_at(paths, t, u, q, v)
    whole = WEIGHTS[n] * duration
    return Moment(q, v, whole, whole * (1 - u) * duration)


@inner
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


@inner
def tabulated(square, table, origin, out):
    """Write force over distance of every law at a squared distance."""
    bits = np.float64(square).view(np.int64)
    cell, x, _ = place_of(bits, origin, table.shape[0])
    b0, b1, b2, b3 = hermite(x)
    for k in range(table.shape[1]):
        g = b0 * table[cell, k, 0] + b1 * table[cell, k, 1]
        out[k] = g + b2 * table[cell, k, 2] + b3 * table[cell, k, 3]


@inner
def add_drag(now, drag, column, out):
    """Subtract what drag changes from that column of `out` (object, prototype, 2, axis, column)."""
    for i in range(now.q.shape[0]):
        for k in range(len(drag)):
            for a in range(now.q.shape[1]):
                out[i, k, 0, a, column] -= now.whole * drag[k] * now.v[i, a]
                out[i, k, 1, a, column] -= now.moment * drag[k] * now.v[i, a]


@entry
def sharpness(paths, out, version=VERSION):
    """How far a pair's relative velocity would carry it by its change alone, over its distance.

    The largest over an object's pairs, for each interval: where it is near one, the path between
    two frames bends too much for a cubic.
    """
    frames, objects, axes = paths.positions.shape
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    velocities = paths.velocities
    nearest = np.empty(len(paths.receivers))
    out[:] = 0.0
    for t in range(frames - 1):
        if not known(paths, t):
            continue
        nearest[:] = np.inf
        for u in (0.0, 0.25, 0.5, 0.75, 1.0):
            states_at(paths, t, u, q, v)
            for e in range(len(nearest)):
                square = displacement(q, paths.receivers[e], paths.senders[e], paths.periods, d)
                nearest[e] = min(nearest[e], square)
        for e in range(len(nearest)):
            i, j = paths.receivers[e], paths.senders[e]
            change = 0.0
            for a in range(axes):
                faster = velocities[t + 1, i, a] - velocities[t, i, a]
                change += (faster - velocities[t + 1, j, a] + velocities[t, j, a]) ** 2
            bend = (change / max(nearest[e], 1e-300)) ** 0.5 * paths.durations[t]
            out[t, i] = max(out[t, i], bend)
            out[t, j] = max(out[t, j], bend)


@entry
def pair_changes(paths, table, origin, out, version=VERSION):
    """What each law would change for the receiver of each edge: (edge, law, interval, 2 * axes)."""
    frames, objects, axes = paths.positions.shape
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    g = np.empty(table.shape[1])
    out[:] = 0.0
    for t in range(frames - 1):
        if not known(paths, t):
            continue
        for n in range(len(POINTS)):
            now = at_point(paths, t, n, q, v)
            for e in range(len(paths.receivers)):
                square = displacement(q, paths.receivers[e], paths.senders[e], paths.periods, d)
                tabulated(square, table, origin, g)
                for k in range(len(g)):
                    factor = paths.weights[e] * g[k]
                    for a in range(axes):
                        out[e, k, t, a] += now.whole * factor * d[a]
                        out[e, k, t, axes + a] += now.moment * factor * d[a]


@entry
def integrals(paths, given, mixture, out, version=VERSION):
    """Change of velocity, and of position beyond free flight, that each prototype would feel.

    `mixture` (object, prototype) are the weights of senders. `out` is (interval, object,
    prototype, 2 equations, axis, 2): the pair forces, and the drag.
    """
    frames, objects, axes = paths.positions.shape
    table, laws, kinds = given.table, given.laws, mixture.shape[1]
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    g = np.empty(table.shape[1])
    out[:] = 0.0
    for t in range(frames - 1):
        if not known(paths, t):
            continue
        for n in range(len(POINTS)):
            now = at_point(paths, t, n, q, v)
            for e in range(len(paths.receivers)):
                i, j = paths.receivers[e], paths.senders[e]
                square = displacement(q, i, j, paths.periods, d)
                tabulated(square, table, given.origin, g)
                for k in range(len(g)):
                    g[k] *= paths.weights[e]
                for k in range(kinds):
                    factor = 0.0
                    for m in range(kinds):
                        factor += mixture[j, m] * g[laws[k, m]]
                    for a in range(axes):
                        out[t, i, k, 0, a, 0] += now.whole * factor * d[a]
                        out[t, i, k, 1, a, 0] += now.moment * factor * d[a]
            add_drag(now, given.drag, 1, out[t])


@inner
def splined(x, splines, basis):
    """Write the four splines that are not zero at `x`; return the number of the first."""
    place = (x - splines.low) / splines.spacing
    cell = floor(place)
    if cell < 0:
        cell, place = 0, 0.0
    elif cell > splines.number - 4:
        cell, place = splines.number - 4, splines.number - 3.0
    s = place - cell
    basis[0] = (1 - s) ** 3 / 6
    basis[1] = (3 * s**3 - 6 * s * s + 4) / 6
    basis[2] = (-3 * s**3 + 3 * s * s + 3 * s + 1) / 6
    basis[3] = s**3 / 6
    return cell


@entry
def design(paths, splines, laws, mixture, out, version=VERSION):
    """The same integrals for each spline of each law: the columns of a regression.

    `out` is (interval, object, prototype, 2, axis, prototype * splines + 1): the spline of the law
    with each other prototype, and the drag.
    """
    frames, objects, axes = paths.positions.shape
    kinds = mixture.shape[1]
    q, v, d = np.empty((objects, axes)), np.empty((objects, axes)), np.empty(axes)
    basis, drag = np.empty(4), np.ones(kinds)
    out[:] = 0.0
    for t in range(frames - 1):
        if not known(paths, t):
            continue
        for n in range(len(POINTS)):
            now = at_point(paths, t, n, q, v)
            for e in range(len(paths.receivers)):
                i, j = paths.receivers[e], paths.senders[e]
                x = 0.5 * log(max(displacement(q, i, j, paths.periods, d), 1e-300))
                first = splined(x, splines, basis)
                for k in range(kinds):
                    for m in range(kinds):
                        share = mixture[j, m] * paths.weights[e]
                        if share == 0.0:
                            continue
                        share *= exp((splines.exponents[laws[k, m]] - 1.0) * x)
                        for b in range(4):
                            value = share * basis[b]
                            column = m * splines.number + first + b
                            for a in range(axes):
                                out[t, i, k, 0, a, column] += now.whole * value * d[a]
                                out[t, i, k, 1, a, column] += now.moment * value * d[a]
            add_drag(now, drag, kinds * splines.number, out[t])
