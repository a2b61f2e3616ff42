"""The compiled core: the published scheme, velocity-Verlet, walls, clipping."""

import numpy as np
import pytest

from pgode.data.simulate.charged import CHARGED
from pgode.data.simulate.particles import COULOMB, HOOKE, INTEGRATORS, integrate, potential_energy
from pgode.data.simulate.simulation import columns
from pgode.data.simulate.springs import SPRINGS
from pgode.data.simulate.system import draw


def total_force(law, couplings, q, dt):
    """Forces as one would write them first: all ordered pairs, diagonal zeroed, then clipped."""
    difference = q[:, None] - q[None]
    if law == COULOMB:
        distance = np.sqrt((difference**2).sum(-1))
        np.fill_diagonal(distance, 1.0)
        factor = couplings / distance**3
    else:
        factor = -couplings
    return np.clip((factor[..., None] * difference).sum(1), -0.1 / dt, 0.1 / dt)


def plain(law, q, v, couplings, wall, frames, sample_every, dt, integrator):
    """One system, step by step, in the words of the published scheme (or of velocity-Verlet)."""
    q, v = q.copy(), v.copy()
    record = [np.concatenate([q, v], -1)]
    if integrator == "published":
        v += dt * total_force(law, couplings, q, dt)
    for step in range(1, (frames - 1) * sample_every + 1):
        if integrator == "velocity-verlet":
            v += dt / 2 * total_force(law, couplings, q, dt)
        q += dt * v
        over, under = q > wall, q < -wall
        q[over] = 2 * wall - q[over]
        v[over] = -np.abs(v[over])
        q[under] = -2 * wall - q[under]
        v[under] = np.abs(v[under])
        if integrator == "velocity-verlet":
            v += dt / 2 * total_force(law, couplings, q, dt)
        if step % sample_every == 0:
            record.append(np.concatenate([q, v], -1))
        if integrator == "published":
            v += dt * total_force(law, couplings, q, dt)
    return np.stack(record, axis=1)


BOXED = {kind.name: kind for kind in (SPRINGS, CHARGED)}


def start_of(name, systems=3, objects=6):
    """Initial states, couplings (strength times weight) and half-widths of the boxes."""
    parameters, start = draw(BOXED[name], objects, {"train": systems}, seed=1)
    named = columns(BOXED[name], parameters)
    return start, named["strength"][:, None, None] * start.weights, named["box"]


def drift(states, couplings, law):
    """Largest change of the energy along the frames, for one system of two or more objects."""
    receiver, sender = np.nonzero(couplings[0])
    kinetic = (states[..., 2:] ** 2).sum((1, 3)) / 2
    potential = potential_energy(
        law, couplings[0][receiver, sender], 0 * receiver, receiver, sender, states[..., :2]
    )
    return np.abs(kinetic + potential - (kinetic + potential)[:, :1]).max()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", BOXED)
def test_compiled_equals_a_plain_loop_over_steps(name, integrator):
    start, couplings, _ = start_of(name)
    walls = np.full(3, 1.3)  # Narrow, so that many a step ends at a wall.
    start.positions[:] = np.clip(start.positions, -1.2, 1.2)
    options = {"frames": 4, "sample_every": 25, "dt": 0.002, "integrator": integrator}
    law = BOXED[name].law
    states = integrate(law, start.positions, start.velocities, couplings, walls, **options)
    for k in range(3):
        expected = plain(
            law, start.positions[k], start.velocities[k], couplings[k], walls[k], **options
        )
        np.testing.assert_allclose(states[k], expected, rtol=0, atol=1e-12)


def test_the_published_scheme_kicks_in_full_before_the_first_drift():
    q = np.array([[[1.0, 0.0], [-1.0, 0.0]]])
    couplings = np.array([[[0.0, 0.5], [0.5, 0.0]]])
    states = integrate(
        HOOKE, q, np.zeros_like(q), couplings, np.array([9.0]), frames=2, sample_every=1, dt=0.01
    )
    np.testing.assert_allclose(states[0, 0, 1], [1 - 0.01 * 0.01, 0, -0.01, 0], rtol=1e-14)
    np.testing.assert_allclose(states[0, 1, 1], [-1 + 0.01 * 0.01, 0, 0.01, 0], rtol=1e-14)


@pytest.mark.parametrize("name", BOXED)
def test_velocity_verlet_conserves_energy_away_from_walls(name):
    law = BOXED[name].law
    start, couplings, _ = start_of(name, systems=1)
    # Like charges only: without a close encounter nothing is clipped.
    couplings = np.abs(couplings)
    states = integrate(
        law,
        2 * start.positions,
        start.velocities,
        couplings,
        np.array([1e6]),
        frames=21,
        sample_every=100,
        dt=0.001,
        integrator="velocity-verlet",
    )
    assert drift(states, couplings, law) < 1e-5


@pytest.mark.parametrize("integrator, order", [("published", 1), ("velocity-verlet", 2)])
def test_halving_the_step_divides_the_energy_error_by_two_to_the_order(integrator, order):
    q = np.array([[[1.0, 0.2], [-1.0, -0.3], [0.4, 1.1]]])
    v = np.array([[[0.1, 0.5], [0.2, -0.5], [-0.4, 0.1]]])
    couplings = 0.8 * (1 - np.eye(3))[None]

    def error(dt):
        steps = round(0.1 / dt)
        return drift(
            integrate(
                HOOKE,
                q,
                v,
                couplings,
                np.array([1e6]),
                frames=31,
                sample_every=steps,
                dt=dt,
                integrator=integrator,
            ),
            couplings,
            HOOKE,
        )

    assert np.log2(error(0.01) / error(0.005)) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_free_particle_bounces_between_the_walls_and_keeps_its_speed(integrator):
    q, v = np.array([[[0.9, 0.0]]]), np.array([[[0.5, -0.25]]])
    states = integrate(
        HOOKE,
        q,
        v,
        np.zeros((1, 1, 1)),
        np.array([1.0]),
        frames=101,
        sample_every=10,
        dt=0.01,
        integrator=integrator,
    )
    times = np.arange(101) * 0.1
    for axis in range(2):
        # The motion between mirrors is a triangle wave of the unfolded straight line.
        unfolded = (q[0, 0, axis] + v[0, 0, axis] * times + 1) % 4
        expected = np.where(unfolded > 2, 4 - unfolded, unfolded) - 1
        np.testing.assert_allclose(states[0, 0, :, axis], expected, atol=1e-12)
        np.testing.assert_allclose(np.abs(states[0, 0, :, 2 + axis]), abs(v[0, 0, axis]))


def test_no_kick_changes_a_velocity_component_by_more_than_a_tenth():
    q = np.array([[[1e-4, 1e-4], [-1e-4, -1e-4]]])
    couplings = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    states = integrate(
        COULOMB, q, np.zeros_like(q), couplings, np.array([5.0]), frames=2, sample_every=1, dt=0.001
    )
    np.testing.assert_allclose(states[0, :, 1, 2:], [[0.1, 0.1], [-0.1, -0.1]])


def test_internal_forces_keep_the_total_momentum():
    start, couplings, _ = start_of("springs", objects=10)
    states = integrate(
        HOOKE,
        start.positions,
        start.velocities,
        couplings,
        np.full(3, 1e6),
        frames=11,
        sample_every=100,
        dt=0.001,
    )
    momentum = states[..., 2:].sum(1)
    np.testing.assert_allclose(momentum, momentum[:, :1] + 0 * momentum, atol=1e-12)


def test_the_number_of_threads_does_not_change_a_bit(monkeypatch):
    start, couplings, box = start_of("charged", systems=70, objects=3)
    arguments = (COULOMB, start.positions, start.velocities, couplings, box)
    results = []
    for threads in (1, 3):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", threads)
        results.append(integrate(*arguments, frames=4, sample_every=50, dt=0.001))
    np.testing.assert_array_equal(*results)
