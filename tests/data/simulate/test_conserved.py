"""Energy of simulated and of forecast states."""

import numpy as np
import pytest

from pgode.data.simulate import energy, simulate
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

FEW = {"objects": 5, "frames": 21, "train": 6, "val": 0, "test": 0, "ood": 2}


@pytest.mark.parametrize("name", ["springs", "charged"])
def test_energy_is_that_of_a_plain_sum_over_pairs(name):
    data = simulate(name, **FEW)
    edges, strength = data.edges, data.parameters[:, 2]
    expected = (data.states[..., 2:] ** 2).sum((1, 3)) / 2
    for graph, i, j, (weight,) in zip(
        edges.edge_graph, edges.edge_receiver, edges.edge_sender, edges.edge_attributes, strict=True
    ):
        if i < j:
            square = ((data.states[graph, i, :, :2] - data.states[graph, j, :, :2]) ** 2).sum(-1)
            pair = weight * square / 2 if name == "springs" else weight / np.sqrt(square)
            expected[graph] += strength[graph] * pair
    np.testing.assert_allclose(energy(data), expected, rtol=1e-12)


@pytest.mark.parametrize("integrator, bound", [("published", 5e-3), ("velocity-verlet", 2e-6)])
def test_springs_keep_their_energy(integrator, bound):
    values = energy(simulate("springs", **FEW, integrator=integrator))
    assert np.abs(values - values[:, :1]).max() < bound


@pytest.mark.parametrize("name, bound", [("gravity", 1e-3), ("nbody", 1e-2)])
def test_systems_in_space_keep_their_energy(name, bound):
    """Most systems of N-body: an encounter whose force is clipped changes the energy."""
    data = simulate(name, objects=5, train=40, val=0, test=0, ood=10, integrator="velocity-verlet")
    values = energy(data)
    assert np.median(np.abs(values - values[:, :1]).max(1)) < bound


def test_energy_of_different_masses_is_that_of_a_plain_sum_over_pairs():
    data = simulate("gravity", **FEW)
    edges, strength = data.edges, data.parameters[:, 0]
    mass = np.zeros((data.systems, data.objects))
    mass[edges.edge_graph, edges.edge_sender] = edges.edge_attributes[:, 0]
    expected = (mass[:, :, None, None] * data.states[..., 3:] ** 2).sum((1, 3)) / 2
    for i in range(data.objects):
        for j in range(i):
            square = ((data.states[:, i, :, :3] - data.states[:, j, :, :3]) ** 2).sum(-1)
            pair = (strength * mass[:, i] * mass[:, j])[:, None] / np.sqrt(square + 0.1**2)
            expected -= pair
    np.testing.assert_allclose(energy(data), expected, rtol=1e-12)
    assert energy(data.permuted([3, 1, 4, 0, 2])) == pytest.approx(expected, rel=1e-12)


def test_drag_conserves_no_energy():
    assert energy(simulate("mixed", **FEW)) is None


def test_energy_of_given_states_at_other_times_is_theirs():
    data = simulate("springs", **FEW)
    np.testing.assert_array_equal(energy(data, data.states[:, :, 5:9]), energy(data)[:, 5:9])
    still = data.states.copy()
    still[..., 2:] = 0.0
    kinetic = (data.states[..., 2:] ** 2).sum((1, 3)) / 2
    np.testing.assert_allclose(energy(data, still), energy(data) - kinetic, rtol=1e-12)


def test_energy_does_not_depend_on_the_order_of_objects_or_on_other_systems():
    data = simulate("charged", **FEW)
    np.testing.assert_allclose(energy(data.permuted([3, 1, 4, 0, 2])), energy(data), rtol=1e-12)
    np.testing.assert_array_equal(energy(data.select([6, 2])), energy(data)[[6, 2]])


def test_energy_is_nan_only_where_a_value_it_needs_is_missing():
    data = simulate("charged", **FEW)
    states = data.states.copy()
    states[1, 2, 3, 0] = np.nan
    missing = np.isnan(energy(data, states))
    assert np.argwhere(missing).tolist() == [[1, 3]]


def test_data_from_elsewhere_have_no_known_energy():
    data = simulate("springs", **FEW)
    assert energy(Trajectories(data.dataset.assign_attrs(generator="springs"))) is None


def test_states_of_other_systems_are_refused():
    data = simulate("springs", **FEW)
    with pytest.raises(InputError, match=r"shape \(7, 5, 21, 4\).*8 systems, 5 objects and 4"):
        energy(data, data.states[1:])
