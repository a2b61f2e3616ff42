"""The compiled core for several laws: forces, schemes, symmetries and conserved quantities."""

import numpy as np
import pytest
from tests.rigid_motions import turn

from pgode.data.simulate.gravity import GRAVITY, masses
from pgode.data.simulate.mixed import MIXED, Mixed
from pgode.data.simulate.nbody import NBODY
from pgode.data.simulate.pair_laws import (
    COULOMB,
    LENNARD_JONES,
    SPRING,
    YUKAWA,
    integrate,
    pair_energy,
    pair_factor,
)
from pgode.data.simulate.particles import COULOMB as BOXED_COULOMB
from pgode.data.simulate.particles import INTEGRATORS
from pgode.data.simulate.particles import integrate as integrate_boxed
from pgode.data.simulate.simulation import columns
from pgode.data.simulate.system import Initial, Schedule, draw


class WithoutDrag(Mixed):
    """Mixed as a system that conserves energy and can run backwards."""

    drag = (0.0, 0.0, 0.0)


CONSERVING = {"nbody": NBODY, "gravity": GRAVITY, "mixed": WithoutDrag()}


def start_of(name, systems=4, objects=6, seed=1):
    """Parameters by name, and initial states."""
    kind = CONSERVING[name]
    parameters, initial = draw(kind, objects, {"train": systems}, seed)
    named = {key: np.array(column) for key, column in columns(kind, parameters).items()}
    if "box" in named:
        named["box"][:] = 1e3  # A wall is met at a step, not at its instant, which is of order 1.
    if name == "nbody":  # Like charges: no encounter so close that its force is clipped.
        initial = Initial(np.abs(initial.weights), 2 * initial.positions, initial.velocities)
    return named, initial


def simulated(name, initial, parameters, *, frames=11, sample_every=100, dt=0.001):
    schedule = Schedule(frames, sample_every, dt, "velocity-verlet")
    return CONSERVING[name].simulate(initial, parameters, schedule)


@pytest.mark.parametrize("law", [COULOMB, SPRING, YUKAWA, LENNARD_JONES])
def test_a_force_is_the_slope_of_its_energy(law):
    for s in (0.4, 0.9, 1.0, 2.5):
        slope = (
            pair_energy(law, 0.7, 0.9, (s + 1e-6) ** 2)
            - pair_energy(law, 0.7, 0.9, (s - 1e-6) ** 2)
        ) / 2e-6
        assert pair_factor(law, 0.7, 0.9, s**2) == pytest.approx(-slope / s, rel=1e-6, abs=1e-7)


def test_laws_have_their_marks():
    assert pair_factor(SPRING, 1.0, 0.9, 0.9**2) == pytest.approx(0.0)
    assert pair_factor(LENNARD_JONES, 1.0, 0.9, 0.9**2) == pytest.approx(0.0)
    assert pair_energy(LENNARD_JONES, 0.3, 0.9, 0.9**2) == pytest.approx(-0.3)
    assert pair_factor(YUKAWA, 1.0, 1e9, 4.0) == pytest.approx(pair_factor(COULOMB, 1.0, 0.0, 4.0))


def plain(q, v, laws, couplings, lengths, softening, mass, drag, wall, steps, dt, shares):
    """One system step by step in plain numpy."""

    def acceleration(q):
        apart = q[:, None] - q
        square = (apart**2).sum(-1) + softening**2
        factor = np.array(
            [
                [
                    0.0 if i == j else pair_factor(laws[i, j], couplings[i, j], lengths[i, j], d)
                    for j, d in enumerate(row)
                ]
                for i, row in enumerate(square)
            ]
        )
        force = (factor[..., None] * apart).sum(1)
        return np.clip(force / mass[:, None], -0.1 / dt, 0.1 / dt)

    q, v = q.copy(), v.copy()
    before, after = (share * dt for share in shares)
    for _ in range(steps):
        v = v * np.exp(-before * drag)[:, None] + before * acceleration(q)
        q += dt * v
        over, under = q > wall, q < -wall
        q = np.where(over, 2 * wall - q, np.where(under, -2 * wall - q, q))
        v = np.where(over, -np.abs(v), np.where(under, np.abs(v), v))
        v = (v + after * acceleration(q)) * np.exp(-after * drag)[:, None]
    return np.concatenate([q, v], -1)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("axes", [2, 3])
def test_compiled_equals_a_plain_loop_over_steps(axes, integrator):
    stream = np.random.default_rng(0)
    systems, objects = 3, 5
    q = stream.uniform(-0.9, 0.9, (systems, objects, axes))
    v = stream.normal(size=q.shape)

    def symmetric(values):
        return np.tril(values) + np.tril(values, -1).transpose(0, 2, 1)

    laws = symmetric(stream.integers(0, 4, (systems, objects, objects)))
    couplings = symmetric(stream.uniform(-0.3, 0.3, laws.shape))
    lengths = symmetric(stream.uniform(0.3, 0.5, laws.shape))
    mass, drag = stream.uniform(0.5, 2.0, (2, systems, objects))
    wall = np.full(systems, 1.0)
    states = integrate(
        *(q, v, couplings, wall),
        frames=3,
        sample_every=20,
        dt=0.002,
        integrator=integrator,
        laws=laws,
        lengths=lengths,
        softening=0.2,
        masses=mass,
        drag=drag,
    )
    np.testing.assert_array_equal(states[:, :, 0], np.concatenate([q, v], -1))
    for k in range(systems):
        expected = plain(
            *(q[k], v[k], laws[k], couplings[k], lengths[k], 0.2, mass[k], drag[k], 1.0),
            40,
            0.002,
            INTEGRATORS[integrator],
        )
        np.testing.assert_allclose(states[k, :, -1], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_charges_in_a_box_move_as_in_the_other_core(integrator):
    stream = np.random.default_rng(1)
    q, v = stream.normal(size=(2, 40, 5, 2))
    couplings = np.ones((40, 5, 5))
    options = {"frames": 5, "sample_every": 50, "dt": 0.001, "integrator": integrator}
    box = np.full(40, 4.0)
    np.testing.assert_array_equal(
        integrate(q, v, couplings, box, **options),
        integrate_boxed(BOXED_COULOMB, q, v, couplings, box, **options),
    )


def test_a_law_for_each_pair_gives_what_one_law_for_all_gives():
    q, v = np.random.default_rng(2).normal(size=(2, 3, 4, 3))
    couplings = np.ones((3, 4, 4))
    options = {"frames": 3, "sample_every": 50, "dt": 0.001, "integrator": "published"}
    each = integrate(
        q, v, couplings, laws=np.full((3, 4, 4), COULOMB), lengths=couplings, **options
    )
    np.testing.assert_array_equal(each, integrate(q, v, couplings, **options))


def test_drag_alone_slows_down_exponentially():
    q, v = np.zeros((1, 1, 2)), np.array([[[1.0, -2.0]]])
    states = integrate(
        *(q, v, np.zeros((1, 1, 1))),
        frames=2,
        sample_every=500,
        dt=0.002,
        integrator="velocity-verlet",
        drag=np.full((1, 1), 0.7),
    )
    np.testing.assert_allclose(states[0, 0, 1, 2:], v[0, 0] * np.exp(-0.7), rtol=1e-12)
    way = v[0, 0] * (1 - np.exp(-0.7)) / 0.7
    np.testing.assert_allclose(states[0, 0, 1, :2], way, rtol=1e-6)


@pytest.mark.parametrize("integrator, order", [("published", 1), ("velocity-verlet", 2)])
@pytest.mark.parametrize("name", CONSERVING)
def test_halving_the_step_divides_the_error_by_two_to_the_order(name, integrator, order):
    """Drag included: it is what could lower the order."""
    parameters, initial = start_of(name, systems=1, seed=4)
    kind = MIXED if name == "mixed" else CONSERVING[name]

    def end(steps):
        schedule = Schedule(2, steps, 0.4 / steps, integrator)
        return kind.simulate(initial, parameters, schedule)[:, :, 1]

    coarse, fine, finer = end(400), end(800), end(1600)
    error = np.abs(coarse - fine).max() / np.abs(fine - finer).max()
    assert np.log2(error) == pytest.approx(order, abs=0.1)


def energies(name, states, initial, parameters):
    if name == "mixed":
        return MIXED.mechanical_energy(states[..., :2], states[..., 2:], initial.kinds, parameters)
    square = ((states[:, :, None, :, :3] - states[:, None, ..., :3]) ** 2).sum(-1)
    strength = parameters["strength"][:, None]
    mass, softening = np.ones(states.shape[:2]), 0.0
    product = initial.weights
    if name == "gravity":
        mass, softening = masses(initial.weights), 0.1
        product = -mass[:, :, None] * initial.weights
    own = np.eye(states.shape[1])[:, :, None]
    potential = product[..., None] / np.sqrt(square + softening**2 + own) * (1 - own)
    kinetic = (mass[:, :, None, None] * states[..., 3:] ** 2).sum((1, 3)) / 2
    return kinetic + strength * potential.sum((1, 2)) / 2


@pytest.mark.parametrize("name", CONSERVING)
def test_velocity_verlet_conserves_energy(name):
    parameters, initial = start_of(name, systems=8)
    states = simulated(name, initial, parameters, frames=31)
    energy = energies(name, states, initial, parameters)
    assert np.abs(energy - energy[:, :1]).max() < 1e-4
    assert np.abs(np.diff(states[..., states.shape[-1] // 2 :], axis=2)).max() > 0.1


@pytest.mark.parametrize("name", CONSERVING)
def test_velocity_verlet_runs_back_to_where_it_started(name):
    parameters, initial = start_of(name)
    space = initial.positions.shape[-1]
    end = simulated(name, initial, parameters, frames=2, sample_every=1000)[:, :, 1]
    turned = Initial(initial.weights, end[..., :space], -end[..., space:], initial.kinds)
    back = simulated(name, turned, parameters, frames=2, sample_every=1000)[:, :, 1]
    np.testing.assert_allclose(back[..., :space], initial.positions, rtol=0, atol=1e-8)
    np.testing.assert_allclose(-back[..., space:], initial.velocities, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", CONSERVING)
def test_the_order_of_objects_does_not_matter(name):
    parameters, initial = start_of(name)
    order = [3, 1, 5, 0, 2, 4]
    permuted = Initial(
        initial.weights[:, order][:, :, order],
        initial.positions[:, order],
        initial.velocities[:, order],
        None if initial.kinds is None else initial.kinds[:, order],
    )
    expected = simulated(name, initial, parameters)[:, order]
    np.testing.assert_allclose(simulated(name, permuted, parameters), expected, atol=1e-9)


@pytest.mark.parametrize("name", CONSERVING)
def test_turned_and_shifted_systems_move_alike(name):
    parameters, initial = start_of(name)
    space = initial.positions.shape[-1]
    matrix = turn(space, mirror=True).numpy()
    moved = Initial(
        initial.weights,
        initial.positions @ matrix.T + 0.7,
        initial.velocities @ matrix.T,
        initial.kinds,
    )
    states = simulated(name, initial, parameters)
    expected = np.concatenate(
        [states[..., :space] @ matrix.T + 0.7, states[..., space:] @ matrix.T], -1
    )
    np.testing.assert_allclose(simulated(name, moved, parameters), expected, atol=1e-8)


@pytest.mark.parametrize("name", CONSERVING)
def test_pair_forces_keep_the_total_momentum(name):
    parameters, initial = start_of(name)
    states = simulated(name, initial, parameters)
    mass = masses(initial.weights) if name == "gravity" else np.ones(states.shape[:2])
    momentum = np.einsum("so,sotd->std", mass, states[..., states.shape[-1] // 2 :])
    np.testing.assert_allclose(momentum, momentum[:, :1] + 0 * momentum, atol=1e-11)


@pytest.mark.parametrize("name", CONSERVING)
def test_threads_and_groups_do_not_change_a_bit(name, monkeypatch):
    parameters, initial = start_of(name, systems=70, objects=4)
    options = {"frames": 3, "sample_every": 40}
    expected = simulated(name, initial, parameters, **options)
    monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", 3)
    np.testing.assert_array_equal(simulated(name, initial, parameters, **options), expected)
    monkeypatch.setattr("pgode.data.simulate.pair_laws.GROUP", 7)
    np.testing.assert_array_equal(simulated(name, initial, parameters, **options), expected)
