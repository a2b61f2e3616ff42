"""Gravity: masses, edge weights, and an initial state that stays together."""

import numpy as np
import pytest

from pgode.data.simulate import energy, simulate
from pgode.data.simulate.gravity import masses


@pytest.fixture(scope="module")
def data():
    return simulate("gravity", train=200, val=0, test=0, ood=50)


@pytest.fixture(scope="module")
def weights(data):
    edges = data.edges
    dense = np.zeros((data.systems, data.objects, data.objects))
    dense[edges.edge_graph, edges.edge_receiver, edges.edge_sender] = edges.edge_attributes[:, 0]
    return dense


def test_an_edge_weighs_the_mass_of_its_sender(weights):
    mass = masses(weights)
    expected = np.broadcast_to(mass[:, None], weights.shape) * (1 - np.eye(10))
    np.testing.assert_array_equal(weights, expected)
    assert not np.array_equal(weights, weights.transpose(0, 2, 1))


def test_masses_are_log_uniform_with_the_systems_own_ratio(data, weights):
    ratio = data.parameters[:, 2, None]
    exponent = np.log(masses(weights)) / np.log(ratio)
    assert np.abs(exponent).max() <= 0.5
    quantiles = np.quantile(exponent, [0.25, 0.5, 0.75])
    assert quantiles == pytest.approx([-0.25, 0.0, 0.25], abs=0.03)


def test_the_centre_of_mass_rests_at_zero(data, weights):
    centre = np.einsum("so,sotd->std", masses(weights), data.states)
    assert np.abs(centre).max() < 1e-11


def test_the_virial_ratio_is_that_of_the_parameters(data, weights):
    kinetic = (masses(weights)[:, :, None] * data.states[:, :, 0, 3:] ** 2).sum((1, 2)) / 2
    potential = energy(data)[:, 0] - kinetic
    np.testing.assert_allclose(-2 * kinetic / potential, data.parameters[:, 1], rtol=1e-12)


def test_systems_are_bound_and_stay_together(data):
    assert (energy(data) < 0).all()
    distance = np.sqrt((data.states[:, :, -1, :3] ** 2).sum(-1))
    assert (distance < 6).mean() > 0.9


def test_acceleration_does_not_depend_on_the_own_mass():
    """Two bodies: each is accelerated by the mass of the other."""
    data = simulate("gravity", objects=2, frames=2, sample_every=1, train=20, val=0, test=0, ood=0)
    gained = np.linalg.norm(np.diff(data.states[..., 3:], axis=2), axis=-1)[..., 0]
    weight = data.edges.edge_attributes[:, 0].reshape(20, 2)  # Of the edge each receives.
    np.testing.assert_allclose(gained[:, 0] / gained[:, 1], weight[:, 0] / weight[:, 1], rtol=1e-9)


def test_a_single_object_rests():
    data = simulate("gravity", objects=1, frames=3, train=1, val=0, test=0, ood=0)
    np.testing.assert_allclose(data.states, 0.0, atol=1e-15)
