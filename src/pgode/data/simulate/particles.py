"""Particles in a box with pair forces: the compiled core. Arrays in, arrays out.

Systems are independent, so a small group of them takes all its steps before the next group starts:
its data stay in the fastest cache. Within a group the loop over systems is the innermost one, which
the compiler turns into vector instructions, square roots and divisions included: Charged takes a
third of the time that one system after the other would. No operation mixes systems or reorders a
sum, so the numbers are the same bits in any group, on any number of threads.

All compiled functions are in this one file because numba's cache does not notice when a function
in another file changes.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from types import MappingProxyType

import numba
import numpy as np
from jaxtyping import Float, Int
from numba import njit

HOOKE = 0
"""Spring of rest length zero: U = c r^2 / 2, force on i is -c (x_i - x_j)."""
COULOMB = 1
"""Charges in space, without softening: U = c / r, force on i is c (x_i - x_j) / r^3."""

INTEGRATORS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"published": (1.0, 0.0), "velocity-verlet": (0.5, 0.5)}
)
"""A step is kick, drift, kick; a scheme gives the shares of the kick before and after the drift.

The scheme published as "leapfrog" has the whole kick first, which makes it symplectic Euler (order
1). It is the default, so that numbers can be compared. Velocity-Verlet halves the kick (order 2).
"""

LARGEST_KICK = 0.1
"""Force components are clipped to +-LARGEST_KICK / dt: no kick changes a velocity by more."""

GROUP = 32
"""Systems per group. Fewer leave vector lanes idle, many more exceed the cache (measured)."""


@njit(cache=True, nogil=True, error_model="numpy")
def forces(law, couplings, x, y, fx, fy, pair_x, pair_y, largest):
    """Write the clipped total force on each object of a group into `fx` and `fy` (object, system).

    `couplings` is (pair, system) with pairs in the order of the loops. The force of a pair is
    stored before it is added to both objects: in a single loop the compiler cannot see that their
    rows differ, and would not use vector instructions.
    """
    objects, width = x.shape
    fx[:] = 0.0
    fy[:] = 0.0
    pair = 0
    for i in range(objects):
        for j in range(i):
            if law == COULOMB:
                for s in range(width):
                    dx = x[i, s] - x[j, s]
                    dy = y[i, s] - y[j, s]
                    square = dx * dx + dy * dy
                    factor = couplings[pair, s] / (square * sqrt(square))
                    pair_x[s] = factor * dx
                    pair_y[s] = factor * dy
            else:
                for s in range(width):
                    pair_x[s] = couplings[pair, s] * (x[j, s] - x[i, s])
                    pair_y[s] = couplings[pair, s] * (y[j, s] - y[i, s])
            for s in range(width):
                fx[i, s] += pair_x[s]
                fy[i, s] += pair_y[s]
            for s in range(width):
                fx[j, s] -= pair_x[s]
                fy[j, s] -= pair_y[s]
            pair += 1
    clip(fx, largest)
    clip(fy, largest)


@njit(cache=True, nogil=True)
def clip(force, largest):
    """Clip to +-largest. min(max()) would turn NaN into a number and hide a failure."""
    for i in range(force.shape[0]):
        for s in range(force.shape[1]):
            value = force[i, s]
            value = largest if value > largest else value
            force[i, s] = -largest if value < -largest else value


@njit(cache=True, nogil=True)
def kick(velocity, force, time):
    """Apply `force` for `time`."""
    for i in range(velocity.shape[0]):
        for s in range(velocity.shape[1]):
            velocity[i, s] += time * force[i, s]


@njit(cache=True, nogil=True)
def drift(position, velocity, time, box):
    """Move freely for `time`; positions outside the box are mirrored, velocities point inwards."""
    for i in range(position.shape[0]):
        for s in range(position.shape[1]):
            wall = box[s]
            v = velocity[i, s]
            q = position[i, s] + time * v
            over, under = q > wall, q < -wall
            velocity[i, s] = -abs(v) if over else (abs(v) if under else v)
            position[i, s] = 2.0 * wall - q if over else (-2.0 * wall - q if under else q)


@njit(cache=True, nogil=True)
def integrate_group(
    first,
    stop,
    law,
    before,
    after,
    positions,
    velocities,
    couplings,
    box,
    dt,
    sample_every,
    states,
):
    """Fill `states[first:stop]`; see `integrate`."""
    objects = positions.shape[1]
    width = stop - first
    shape = (objects, width)
    # One allocation each: the compiler does not know slices of a common one to be contiguous, and
    # would not use vector instructions.
    x, y, vx, vy = np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape)
    fx, fy, pair_x, pair_y = np.empty(shape), np.empty(shape), np.empty(width), np.empty(width)
    pairs = np.empty((objects * (objects - 1) // 2, width))
    for s in range(width):
        pair = 0
        for i in range(objects):
            x[i, s], y[i, s] = positions[first + s, i]
            vx[i, s], vy[i, s] = velocities[first + s, i]
            for j in range(i):
                pairs[pair, s] = couplings[first + s, i, j]
                pair += 1
    half = box[first:stop]
    largest = LARGEST_KICK / dt
    forces(law, pairs, x, y, fx, fy, pair_x, pair_y, largest)
    for frame in range(states.shape[2]):
        for _ in range(sample_every if frame > 0 else 0):
            kick(vx, fx, before * dt)
            kick(vy, fy, before * dt)
            drift(x, vx, dt, half)
            drift(y, vy, dt, half)
            forces(law, pairs, x, y, fx, fy, pair_x, pair_y, largest)
            if after > 0.0:
                kick(vx, fx, after * dt)
                kick(vy, fy, after * dt)
        for s in range(width):
            states[first + s, :, frame, 0] = x[:, s]
            states[first + s, :, frame, 1] = y[:, s]
            states[first + s, :, frame, 2] = vx[:, s]
            states[first + s, :, frame, 3] = vy[:, s]


def integrate(
    law: int,
    positions: Float[np.ndarray, "system object 2"],
    velocities: Float[np.ndarray, "system object 2"],
    couplings: Float[np.ndarray, "system object object"],
    box: Float[np.ndarray, " system"],
    *,
    frames: int,
    sample_every: int,
    dt: float,
    integrator: str = "published",
) -> Float[np.ndarray, "system object frame 4"]:
    """Record (x, y, vx, vy) of every object at the start and after each `sample_every` steps.

    `couplings` is symmetric and includes the strength; its diagonal is not read. `box` is the
    half-width of each system's box. Every object has mass one. With velocity-Verlet the energy of a
    step that touches a wall is still wrong by O(dt * force * speed), since the force is not
    mirrored at the instant of contact.

    The loops hold no interpreter lock, so threads work on the groups in parallel.
    """
    systems, objects, _ = positions.shape
    states = np.empty((systems, objects, frames, 4))
    before, after = INTEGRATORS[integrator]
    arrays = [np.ascontiguousarray(a, float) for a in (positions, velocities, couplings, box)]

    def fill(first: int) -> None:
        stop = min(first + GROUP, systems)
        integrate_group(first, stop, law, before, after, *arrays, float(dt), sample_every, states)

    # The map is consumed so that an error in a thread is raised.
    with ThreadPoolExecutor(int(numba.config.NUMBA_NUM_THREADS)) as pool:
        list(pool.map(fill, range(0, systems, GROUP)))
    return states


@njit(cache=True, nogil=True, error_model="numpy")
def add_pair_energies(law, couplings, system, receiver, sender, positions, energy):
    """Add half of the potential energy of each directed edge to `energy` (system, time).

    Compiled because an array of differences (edge, time, axis) would take gigabytes for 30 objects.
    """
    for e in range(couplings.shape[0]):
        first = positions[system[e], receiver[e]]
        second = positions[system[e], sender[e]]
        for t in range(positions.shape[2]):
            square = 0.0
            for axis in range(positions.shape[3]):
                square += (first[t, axis] - second[t, axis]) ** 2
            pair = couplings[e] / sqrt(square) if law == COULOMB else couplings[e] * square / 2
            energy[system[e], t] += pair / 2


def potential_energy(
    law: int,
    couplings: Float[np.ndarray, " edge"],
    system: Int[np.ndarray, " edge"],
    receiver: Int[np.ndarray, " edge"],
    sender: Int[np.ndarray, " edge"],
    positions: Float[np.ndarray, "system object time axis"],
) -> Float[np.ndarray, "system time"]:
    """Potential energy of every system at every time; each pair appears in both directions."""
    energy = np.zeros((positions.shape[0], positions.shape[2]))
    add_pair_energies(
        law, couplings, system, receiver, sender, np.ascontiguousarray(positions), energy
    )
    return energy
