"""Forces of tabulated pair laws: the compiled core, and the tuples of arrays that it works on.

The unit of work is one copy of one system over one interval between two outputs. Forward, each
interval is divided into equal steps, as many as its stiffness asks for. Backward, the steps are
undone one by one from the state at the interval's end.

A law is tabulated over the square of the distance in cells that the leading bits of a floating
point number name: every octave has `2**BITS` cells. Finding the cell of a distance takes a shift,
where knots in log r would take a logarithm.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from pgode.models.pgode.laws.compiled import inlined

BITS = 6
"""Bits of the mantissa that name a cell: 64 cells per octave of the squared distance, which keep a
power law to eight digits."""
SHIFT = 52 - BITS
FRACTION = (1 << SHIFT) - 1
UNIT = 1.0 / (1 << SHIFT)

NONE, REFLECT = 0, 1
"""What is at the ends of an axis."""


class Layout(NamedTuple):
    """Which objects and pairs a system has; all arrays are ragged lists over systems.

    `ends` are the two objects of each pair, counted within their system.
    """

    offsets: Int[ndarray, " systems+1"]
    pair_offsets: Int[ndarray, " systems+1"]
    ends: Int[ndarray, "2 pairs"]

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(self.offsets) - 1

    @property
    def objects(self) -> Int[ndarray, "2 pairs"]:
        """The two objects of each pair, counted over all systems."""
        first = np.repeat(self.offsets[:-1], np.diff(self.pair_offsets))
        return np.asarray(self.ends + first)


class Space(NamedTuple):
    """What is at the ends of each axis, the period of each (0 for none), and the table's origin.

    `limit` is the largest component of an acceleration: simulators often clip forces.
    """

    kinds: Int[ndarray, " axes"]
    periods: Float[ndarray, " axes"]
    origin: int
    limit: float


class Steps(NamedTuple):
    """How finely an interval between two outputs is divided.

    `lead` is 0 for a scheme whose velocities belong to the same time as its positions (Verlet),
    and 1/2 for one whose velocities lag by half a step (kick, then drift). There are at least
    `fewest` steps per unit of time. An interval is repeated with more until a step is at most
    `tolerance` over the largest frequency met on the way, or there are `most` steps per unit of
    time. Where `most` is not more than `fewest`, intervals are not repeated.
    """

    lead: float
    fewest: float
    most: int
    tolerance: float


class Arrays(NamedTuple):
    """Everything that accelerates, see `path.Forces`; backward also the gradients of it."""

    table: Float[ndarray, "cells laws 4"]
    coupling: Float[ndarray, "pairs 2 laws"]
    strength: Float[ndarray, "copies systems"]
    walls: Float[ndarray, "copies systems axes 2"]
    drag: Float[ndarray, " objects"]
    pull: Float[ndarray, " objects"]
    push: Float[ndarray, "objects axes"]


class States(NamedTuple):
    """Positions and velocities (or gradients of them) with axes before objects."""

    q: Float[ndarray, "copies *outputs axes objects"]
    v: Float[ndarray, "copies *outputs axes objects"]


class Record(NamedTuple):
    """Steps taken in each interval, and the smallest squared distance of each system."""

    used: Int[ndarray, "copies systems outputs"]
    closest: Float[ndarray, "copies systems"]


class Room(NamedTuple):
    """Working memory for one system; `bits` are those of `square`.

    `watch` holds the smallest squared distance and the largest squared frequency so far.
    """

    apart: Float[ndarray, "axes pairs"]
    square: Float[ndarray, " pairs"]
    bits: Int[ndarray, " pairs"]
    factor: Float[ndarray, "2 pairs"]
    q: Float[ndarray, "axes objects"]
    v: Float[ndarray, "axes objects"]
    acceleration: Float[ndarray, "axes objects"]
    bars: Float[ndarray, "3 axes objects"]
    watch: Float[ndarray, "2"]


class One(NamedTuple):
    """The part of `Arrays` that concerns one copy of one system, and the ends of its pairs."""

    first: Int[ndarray, " pairs"]
    second: Int[ndarray, " pairs"]
    table: Float[ndarray, "cells laws 4"]
    coupling: Float[ndarray, "pairs 2 laws"]
    strength: float
    walls: Float[ndarray, "axes 2"]
    drag: Float[ndarray, " objects"]
    pull: Float[ndarray, " objects"]
    push: Float[ndarray, "objects axes"]


@inlined
def one_of(arrays, layout, c, s):
    """Views of what belongs to copy `c` of system `s`."""
    begin, end = layout.offsets[s], layout.offsets[s + 1]
    first, last = layout.pair_offsets[s], layout.pair_offsets[s + 1]
    return One(
        layout.ends[0, first:last],
        layout.ends[1, first:last],
        arrays.table,
        arrays.coupling[first:last],
        arrays.strength[c, s],
        arrays.walls[c, s],
        arrays.drag[begin:end],
        arrays.pull[begin:end],
        arrays.push[begin:end],
    )


@inlined
def distances(q, one, periods, room):
    """Displacements and squared distances of all pairs; watches the smallest."""
    apart, square, pairs = room.apart, room.square, len(one.first)
    for p in range(pairs):
        square[p] = 0.0
    for a in range(q.shape[0]):
        period = periods[a]
        if period > 0.0:
            for p in range(pairs):
                d = q[a, one.first[p]] - q[a, one.second[p]]
                d -= period * round(d / period)
                apart[a, p] = d
                square[p] += d * d
        else:
            for p in range(pairs):
                d = q[a, one.first[p]] - q[a, one.second[p]]
                apart[a, p] = d
                square[p] += d * d
    smallest = room.watch[0]
    for p in range(pairs):
        if square[p] < smallest:
            smallest = square[p]
    room.watch[0] = smallest


@inlined
def place_of(bits, origin, cells):
    """The cell of a squared distance with these bits, the share of it, and whether it is in one."""
    cell = (bits >> SHIFT) - origin
    if cell < 0:
        return 0, 0.0, False
    if cell >= cells:
        return cells - 1, 1.0, False
    return cell, (bits & FRACTION) * UNIT, True


@inlined
def hermite(u):
    """Weights of values and slopes at both ends of a cell, at the share `u` of it."""
    v = 1.0 - u
    return v * v * (1.0 + 2.0 * u), u * u * (1.0 + 2.0 * v), v * v * u, -u * u * v


@inlined
def factors(one, origin, room):
    """Force over distance of each pair on either end; watches the largest, a squared frequency."""
    table, coupling, factor = one.table, one.coupling, room.factor
    largest = room.watch[1]
    for p in range(len(one.first)):
        cell, u, _ = place_of(room.bits[p], origin, table.shape[0])
        b0, b1, b2, b3 = hermite(u)
        towards, back = 0.0, 0.0
        for k in range(table.shape[1]):
            if coupling[p, 0, k] == 0.0 and coupling[p, 1, k] == 0.0:
                continue
            g = b0 * table[cell, k, 0] + b1 * table[cell, k, 1]
            g += b2 * table[cell, k, 2] + b3 * table[cell, k, 3]
            towards += coupling[p, 0, k] * g
            back += coupling[p, 1, k] * g
        factor[0, p] = one.strength * towards
        factor[1, p] = one.strength * back
        largest = max(largest, abs(factor[0, p]) + abs(factor[1, p]))
    room.watch[1] = largest


@inlined
def accelerate(q, one, space, room):
    """Sum the pairs' forces and the outer ones, and clip every component to +-`limit`."""
    distances(q, one, space.periods, room)
    factors(one, space.origin, room)
    apart, factor, acceleration = room.apart, room.factor, room.acceleration
    for a in range(q.shape[0]):
        for i in range(q.shape[1]):
            acceleration[a, i] = one.push[i, a] - one.pull[i] * q[a, i]
        for p in range(len(one.first)):
            acceleration[a, one.first[p]] += factor[0, p] * apart[a, p]
            acceleration[a, one.second[p]] -= factor[1, p] * apart[a, p]
        for i in range(q.shape[1]):
            if acceleration[a, i] > space.limit:
                acceleration[a, i] = space.limit
            elif acceleration[a, i] < -space.limit:
                acceleration[a, i] = -space.limit
