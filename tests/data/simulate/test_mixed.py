"""Mixed: hidden kinds, their laws, and motion regular enough to be learned."""

from dataclasses import replace

import numpy as np
import pytest

from pgode.data import files
from pgode.data.simulate import simulate
from pgode.data.simulate.mixed import COUPLINGS, DRAG, LAWS, LENGTHS, MIXED
from pgode.data.simulate.pair_laws import COULOMB, LENNARD_JONES, SPRING, YUKAWA
from pgode.data.simulate.simulation import columns
from pgode.data.simulate.system import Initial, Schedule, draw
from pgode.runtime.errors import InputError


@pytest.fixture(scope="module")
def data():
    return simulate("mixed", train=100, val=0, test=0, ood=30)


def test_all_four_laws_and_drag_take_part():
    assert set(LAWS.ravel().tolist()) == {SPRING, YUKAWA, COULOMB, LENNARD_JONES}
    for table in (LAWS, COUPLINGS, LENGTHS):
        np.testing.assert_array_equal(table, table.T)
    assert sorted(rate > 0 for rate in DRAG) == [False, False, True]


def test_every_system_has_all_kinds_about_equally_often(data):
    counts = (data.kinds[:, :, None] == np.arange(3)).sum(1)
    assert set(counts.ravel().tolist()) == {3, 4}
    assert data.kinds.mean() == pytest.approx(1.0, abs=0.05)


def test_the_graph_says_nothing_about_kinds(data):
    assert (data.edges.edge_attributes == 1.0).all()
    assert len(data.edges.edge_graph) == data.systems * 90


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_kinds_are_stored_with_the_data(data, ending, tmp_path):
    files.write(data, tmp_path / f"mixed{ending}")
    read = files.read(tmp_path / f"mixed{ending}")
    np.testing.assert_array_equal(read.kinds, data.kinds)
    assert read.hash == data.hash


def test_motion_is_regular(data):
    """No force comes near the clipping, and objects start apart."""
    q, v = data.states[..., :2], data.states[..., 2:]
    assert np.sqrt((v**2).sum(-1)).max() < 6
    distance = np.sqrt(((q[:, :, None, 0] - q[:, None, :, 0]) ** 2).sum(-1)) + 9 * np.eye(10)
    assert distance.min() > 0.8


def first_systems(systems):
    parameters, initial = draw(MIXED, 10, {"train": systems}, seed=0)
    return columns(MIXED, parameters), initial


def test_no_force_is_clipped():
    parameters, initial = first_systems(20)
    states = MIXED.simulate(initial, parameters, Schedule(6000, 1, 0.001, "velocity-verlet"))
    v = states[..., 2:]
    bounced = np.sign(v[:, :, 1:]) != np.sign(v[:, :, :-1])
    kicks = np.where(bounced, 0.0, np.abs(np.diff(v, axis=2)))
    assert kicks.max() < 0.05


def test_another_kind_moves_otherwise_within_twelve_frames():
    """Each object in turn is given another kind; its place at frame 12 shows it."""
    parameters, initial = first_systems(20)
    schedule = Schedule(12, 100, 0.001, "velocity-verlet")
    states = MIXED.simulate(initial, parameters, schedule)
    shifts = []
    for item in range(10):
        for other in (1, 2):
            kinds = initial.kinds.copy()
            kinds[:, item] = (kinds[:, item] + other) % 3
            changed = MIXED.simulate(replace(initial, kinds=kinds), parameters, schedule)
            moved = np.abs(changed - states)[:, item, -1, :2].max(-1)
            shifts.append(moved)
    assert np.min(shifts) > 1e-3
    assert np.median(shifts) > 0.1


def test_drag_and_only_drag_takes_energy(data):
    parameters, initial = first_systems(20)
    states = MIXED.simulate(initial, parameters, Schedule(96, 100, 0.001, "velocity-verlet"))
    energy = MIXED.mechanical_energy(states[..., :2], states[..., 2:], initial.kinds, parameters)
    assert (energy[:, -1] < energy[:, 0]).all()
    assert np.diff(energy, axis=1).max() < 0.01


def test_systems_can_start_from_any_frame(data):
    names = data.dataset["parameter"].values.tolist()
    frame = data.states[:, :, 40]
    initial = Initial(
        np.tile(1 - np.eye(10), (data.systems, 1, 1)), frame[..., :2], frame[..., 2:], data.kinds
    )
    parameters = dict(zip(names, data.parameters.T, strict=True))
    again = MIXED.simulate(initial, parameters, Schedule(13, 100, 0.001, "velocity-verlet"))
    np.testing.assert_allclose(again, data.states[:, :, 40:53], atol=1e-10)


@pytest.mark.parametrize("kinds, problem", [(None, "missing"), (np.full((1, 10), 3), "3 to 3")])
def test_without_its_kinds_nothing_can_be_simulated(kinds, problem):
    parameters, initial = first_systems(1)
    with pytest.raises(InputError, match=f"kinds of the objects are .*{problem}"):
        MIXED.simulate(
            replace(initial, kinds=kinds), parameters, Schedule(2, 1, 0.001, "velocity-verlet")
        )


def test_one_object_moves_alone():
    data = simulate("mixed", objects=1, frames=3, train=4, val=0, test=0, ood=0)
    assert data.kinds.shape == (4, 1)
    assert len(data.edges.edge_graph) == 0
