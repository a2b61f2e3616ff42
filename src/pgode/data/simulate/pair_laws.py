"""Objects with pair forces of several laws: the compiled core for two or three dimensions.

It is built like the core of Springs and Charged (`particles`): groups of systems, the loop over
systems innermost, the same bits in any group and on any number of threads. It does more: masses,
softening, drag, a law for each pair. `particles` stays for the two laws it has, because this one
takes a fifth longer for them (measured).

All compiled functions are in this one file because numba's cache does not notice when a function
in another file changes. A vector of each object is a tuple with one array per axis: its length is
known when the code is compiled, which unrolls the short loops over axes.
"""

from concurrent.futures import ThreadPoolExecutor
from math import exp, sqrt

import numba
import numpy as np
from jaxtyping import Float, Int
from numba import njit

from pgode.data.simulate.particles import GROUP, INTEGRATORS, LARGEST_KICK

COULOMB = 0
"""Charges in space, or masses where c is negative: U = c / s."""
SPRING = 1
"""Spring of rest length l: U = c (s - l)^2 / 2."""
YUKAWA = 2
"""Charges screened over the length l: U = c exp(-s / l) / s."""
LENNARD_JONES = 3
"""Repulsion within the distance l, attraction beyond it: U = c ((l / s)^12 - 2 (l / s)^6)."""


@njit(cache=True, nogil=True, error_model="numpy")
def pair_factor(law, coupling, length, square):
    """-U'(s) / s, which times x_i - x_j is the force on i; `square` is s^2."""
    if law == COULOMB:
        return coupling / (square * sqrt(square))
    if law == SPRING:
        return coupling * (length / sqrt(square) - 1.0)
    if law == YUKAWA:
        s = sqrt(square)
        return coupling * exp(-s / length) * (1.0 / s + 1.0 / length) / square
    ratio = length * length / square
    sixth = ratio * ratio * ratio
    return 12.0 * coupling * (sixth - 1.0) * sixth / square


@njit(cache=True, nogil=True, error_model="numpy")
def pair_energy(law, coupling, length, square):
    """U(s); `square` is s^2."""
    if law == COULOMB:
        return coupling / sqrt(square)
    if law == SPRING:
        return coupling * (sqrt(square) - length) ** 2 / 2
    if law == YUKAWA:
        return coupling * exp(-sqrt(square) / length) / sqrt(square)
    ratio = length * length / square
    sixth = ratio * ratio * ratio
    return coupling * (sixth - 2.0) * sixth


@njit(cache=True, nogil=True, error_model="numpy")
def forces(laws, couplings, lengths, softening, q, force, pair_force):
    """Write the total force on each object of a group into `force`, arrays (object, system).

    `laws`, `couplings` and `lengths` are (pair, system) with pairs in the order of the loops;
    without laws all are COULOMB, which has a loop to itself because that becomes vector
    instructions. The force of a pair is stored before it is added to both objects: in a single
    loop the compiler cannot see that their rows differ, and would not use them.
    """
    objects, width = q[0].shape
    for axis in range(len(q)):
        force[axis][:] = 0.0
    pair = 0
    for i in range(objects):
        for j in range(i):
            if laws.shape[1] == 0:
                for s in range(width):
                    square = softening
                    for axis in range(len(q)):
                        apart = q[axis][i, s] - q[axis][j, s]
                        square += apart * apart
                    factor = couplings[pair, s] / (square * sqrt(square))
                    for axis in range(len(q)):
                        pair_force[axis][s] = factor * (q[axis][i, s] - q[axis][j, s])
            else:
                for s in range(width):
                    square = softening
                    for axis in range(len(q)):
                        apart = q[axis][i, s] - q[axis][j, s]
                        square += apart * apart
                    factor = pair_factor(
                        laws[pair, s], couplings[pair, s], lengths[pair, s], square
                    )
                    for axis in range(len(q)):
                        pair_force[axis][s] = factor * (q[axis][i, s] - q[axis][j, s])
            for s in range(width):
                for axis in range(len(q)):
                    force[axis][i, s] += pair_force[axis][s]
            for s in range(width):
                for axis in range(len(q)):
                    force[axis][j, s] -= pair_force[axis][s]
            pair += 1


@njit(cache=True, nogil=True)
def scale(values, factors):
    """Multiply `values` by `factors`; nothing where there are none."""
    for i in range(factors.shape[0]):
        for s in range(factors.shape[1]):
            values[i, s] *= factors[i, s]


@njit(cache=True, nogil=True)
def clip(force, largest):
    """Clip to +-largest. min(max()) would turn NaN into a number and hide a failure."""
    for i in range(force.shape[0]):
        for s in range(force.shape[1]):
            value = force[i, s]
            value = largest if value > largest else value
            force[i, s] = -largest if value < -largest else value


@njit(cache=True, nogil=True)
def kick(velocity, acceleration, time):
    """Accelerate for `time`."""
    for i in range(velocity.shape[0]):
        for s in range(velocity.shape[1]):
            velocity[i, s] += time * acceleration[i, s]


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
def group_of(values, first, stop):
    """Values (system, object) of some systems as (object, system)."""
    return values[first:stop].T.copy()


@njit(cache=True, nogil=True)
def pairs_of(values, first, stop):
    """Values (system, object, object) of some systems as (pair, system); none if there are none."""
    objects = values.shape[1]
    width = max(0, min(stop, values.shape[0]) - first)
    pairs = np.empty((objects * (objects - 1) // 2, width), values.dtype)
    for s in range(width):
        pair = 0
        for i in range(objects):
            for j in range(i):
                pairs[pair, s] = values[first + s, i, j]
                pair += 1
    return pairs


@njit(cache=True, nogil=True)
def integrate_group(
    first,
    stop,
    before,
    after,
    laws,
    couplings,
    lengths,
    softening,
    inverse_masses,
    drag,
    box,
    dt,
    largest,
    sample_every,
    q,
    v,
    force,
    pair_force,
    states,
):
    """Fill `states[first:stop]`; see `integrate`.

    `q` and `v` hold the initial state and serve, with `force` and `pair_force`, as working memory.
    Without masses or drag their arrays have no rows.
    """
    axes, width = len(q), stop - first
    laws, lengths = pairs_of(laws, first, stop), pairs_of(lengths, first, stop)
    couplings = pairs_of(couplings, first, stop)
    inverse_masses = group_of(inverse_masses, first, stop)
    drag = group_of(drag, first, stop)
    damping_before, damping_after = np.exp(-before * dt * drag), np.exp(-after * dt * drag)
    half = box[first:stop]
    for frame in range(states.shape[2]):
        for _ in range(sample_every if frame > 0 else 1):
            if frame > 0:
                for axis in range(axes):
                    scale(v[axis], damping_before)
                    kick(v[axis], force[axis], before * dt)
                    drift(q[axis], v[axis], dt, half)
            forces(laws, couplings, lengths, softening, q, force, pair_force)
            for axis in range(axes):
                scale(force[axis], inverse_masses)
                clip(force[axis], largest)
                if frame > 0 and after > 0.0:
                    kick(v[axis], force[axis], after * dt)
                    scale(v[axis], damping_after)
        for s in range(width):
            for axis in range(axes):
                states[first + s, :, frame, axis] = q[axis][:, s]
                states[first + s, :, frame, axes + axis] = v[axis][:, s]


def integrate(
    positions: Float[np.ndarray, "system object axis"],
    velocities: Float[np.ndarray, "system object axis"],
    couplings: Float[np.ndarray, "system object object"],
    box: Float[np.ndarray, " system"] | None = None,
    *,
    frames: int,
    sample_every: int,
    dt: float,
    integrator: str,
    laws: Int[np.ndarray, "system object object"] | None = None,
    lengths: Float[np.ndarray, "system object object"] | None = None,
    softening: float = 0.0,
    masses: Float[np.ndarray, "system object"] | None = None,
    drag: Float[np.ndarray, "system object"] | None = None,
) -> Float[np.ndarray, "system object frame state"]:
    """Record positions, then velocities, at the start and after each `sample_every` steps.

    `laws` are COULOMB for all pairs if not given. A law is a potential of s = sqrt(r^2 +
    softening^2) with a coupling c, which includes the strength, and some with a length l;
    these are symmetric and their diagonals are not read. `box` is the half-width of each system's
    box; None is no walls. `masses` are one if not given. `drag` is the rate at which an object
    would lose its velocity if nothing else acted on it. It is applied exactly, before the first
    and after the second kick of a step, so that it does not lower the order.

    With velocity-Verlet the energy of a step that touches a wall is still wrong by
    O(dt * force * speed), since the force is not mirrored at the instant of contact.

    The loops hold no interpreter lock, so threads work on the groups in parallel.
    """
    systems, objects, axes = positions.shape
    states = np.empty((systems, objects, frames, 2 * axes))
    before, after = INTEGRATORS[integrator]
    no_pairs, no_objects = (0, objects, objects), (systems, 0)
    fixed = (
        np.empty(no_pairs, np.int8) if laws is None else np.ascontiguousarray(laws, np.int8),
        np.ascontiguousarray(couplings, float),
        np.empty(no_pairs) if lengths is None else np.ascontiguousarray(lengths, float),
        float(softening) ** 2,
        np.empty(no_objects) if masses is None else np.ascontiguousarray(1.0 / masses),
        np.empty(no_objects) if drag is None else np.ascontiguousarray(drag, float),
        np.full(systems, np.inf) if box is None else np.ascontiguousarray(box, float),
        float(dt),
        LARGEST_KICK / dt,
        sample_every,
    )

    def fill(first: int) -> None:
        stop = min(first + GROUP, systems)
        # One allocation each: the compiler does not know slices of a common one to be contiguous,
        # and would not use vector instructions.
        q, v = (
            tuple(np.array(state[first:stop, :, axis].T, float, order="C") for axis in range(axes))
            for state in (positions, velocities)
        )
        force = tuple(np.empty((objects, stop - first)) for _ in range(axes))
        pair_force = tuple(np.empty(stop - first) for _ in range(axes))
        integrate_group(first, stop, before, after, *fixed, q, v, force, pair_force, states)

    # The map is consumed so that an error in a thread is raised.
    with ThreadPoolExecutor(int(numba.config.NUMBA_NUM_THREADS)) as pool:
        list(pool.map(fill, range(0, systems, GROUP)))
    return states


@njit(cache=True, nogil=True, error_model="numpy")
def add_pair_energies(laws, couplings, lengths, softening, ends, positions, energy):
    """Add half of the potential energy of each directed edge to `energy` (system, time).

    Compiled because an array of differences (edge, time, axis) would take gigabytes for 30 objects.
    """
    system, receiver, sender = ends
    for e in range(couplings.shape[0]):
        first = positions[system[e], receiver[e]]
        second = positions[system[e], sender[e]]
        for t in range(positions.shape[2]):
            square = softening
            for axis in range(positions.shape[3]):
                square += (first[t, axis] - second[t, axis]) ** 2
            energy[system[e], t] += pair_energy(laws[e], couplings[e], lengths[e], square) / 2


def potential_energy(
    laws: int | Int[np.ndarray, " edge"],
    couplings: Float[np.ndarray, " edge"],
    ends: tuple[Int[np.ndarray, " edge"], ...],
    positions: Float[np.ndarray, "system object time axis"],
    *,
    lengths: Float[np.ndarray, " edge"] | float = 0.0,
    softening: float = 0.0,
) -> Float[np.ndarray, "system time"]:
    """Potential energy of every system at every time; each pair appears in both directions.

    `ends` are the system, the receiver and the sender of each edge.
    """
    energy = np.zeros((positions.shape[0], positions.shape[2]))
    add_pair_energies(
        np.full(couplings.shape, laws, np.int8),
        np.ascontiguousarray(couplings, float),
        np.full(couplings.shape, lengths, float),
        float(softening) ** 2,
        tuple(np.ascontiguousarray(end, np.int64) for end in ends),
        np.ascontiguousarray(positions, float),
        energy,
    )
    return energy


def kinetic_energy(
    velocities: Float[np.ndarray, "system object time axis"],
    masses: Float[np.ndarray, "system object"],
) -> Float[np.ndarray, "system time"]:
    """Kinetic energy of every system at every time; an absent object has mass zero."""
    moving = np.where(masses[:, :, None, None] > 0, velocities, 0.0)
    return np.asarray(np.einsum("sotd,so->st", moving**2, masses) / 2)
