"""Roles by name and by number, walls and periodic boxes."""

import numpy as np
from tests.data.checkup.made import arrays, built, subject

from pgode.data.checkup.checks import motion
from pgode.data.checkup.checks.series import jumps

CHECKS = (
    motion.derivatives,
    motion.no_velocities,
    motion.wrong_velocities,
    motion.walls,
    motion.periodic_box,
)


def test_positions_with_velocities_give_no_finding():
    assert [finding for check in CHECKS for finding in check(subject())] == []


def test_a_derivative_without_a_role_is_found_by_its_numbers():
    data = built(features=("alpha", "beta", "gamma", "delta"), units=None)
    (found,) = motion.derivatives(subject(data))
    assert found.text == (
        "gamma is the derivative of alpha, delta is the derivative of beta, but have no role."
    )


def test_positions_without_velocities_get_a_hint():
    data = built(states=arrays()["states"][..., :2], features=("x", "y"), units=None)
    (found,) = motion.no_velocities(subject(data))
    assert found.severity == "note" and "--velocities" in found.fix


def test_velocities_in_other_units_are_a_problem():
    given = arrays()["states"]
    given[..., 2] *= 3.6
    (found,) = motion.wrong_velocities(subject(built(states=given)))
    assert found.severity == "problem" and found.text.startswith("vx is 3.6 times the rate")


def test_velocities_of_another_column_are_a_problem():
    given = arrays()["states"][..., [0, 1, 3, 2]]
    found = motion.wrong_velocities(subject(built(states=given)))
    assert [f.place.feature for f in found] == ["vx", "vy"]
    assert all("is not the rate of change" in f.text for f in found)


def test_velocities_derived_from_noisy_positions_are_theirs():
    rng = np.random.default_rng(0)
    position = np.cumsum(rng.normal(size=(40, 4, 60, 2)), axis=2)
    rate = np.zeros_like(position)
    rate[:, :, 2:] = (position[:, :, 2:] - position[:, :, :-2]) / 0.2  # from past frames only
    noisy = np.concatenate([position, rate], axis=-1)
    assert motion.wrong_velocities(subject(built(states=noisy))) == []


def straight() -> np.ndarray:
    """Positions of objects in free motion, (system, object, time, axis)."""
    rng = np.random.default_rng(2)
    start, rate = rng.uniform(-1, 1, (2, 40, 4, 1, 2))
    return start + 1.5 * rate * 0.1 * np.arange(60)[:, None]


def moving(position: np.ndarray) -> np.ndarray:
    rate = np.gradient(straight(), 0.1, axis=2)
    return np.concatenate([position, rate], axis=-1)


def test_walls_show_where_objects_turn_at_the_edges():
    reflected = np.abs((straight() + 1) % 4 - 2) - 1
    rate = np.gradient(reflected, 0.1, axis=2)
    states = np.concatenate([reflected, rate], axis=-1)
    (found,) = motion.walls(subject(built(states=states)))
    assert found.severity == "note" and "walls show" in found.text
    assert "about -1 and 0.99" in found.text


def test_a_periodic_box_shows_by_steps_of_its_size_which_are_no_jumps():
    wrapped = (straight() + 1) % 2 - 1
    checked = subject(built(states=moving(wrapped)))
    found = motion.periodic_box(checked)
    assert [f.place.feature for f in found] == ["x", "y"]
    assert found[0].severity == "problem" and "as in a periodic box of that size" in found[0].text
    assert jumps(checked) == []
