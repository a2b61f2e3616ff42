"""N-body: charges in space as in the published benchmark."""

import numpy as np
import pytest

from pgode.data.simulate import SYSTEMS, simulate


@pytest.fixture(scope="module")
def data():
    return simulate("nbody", train=400, val=0, test=0, ood=40)


def test_training_systems_have_the_published_parameters(data):
    np.testing.assert_array_equal(data.parameters[:400], np.tile([0.5, 1.0, 0.5], (400, 1)))
    assert (data.parameters[400:] != [0.5, 1.0, 0.5]).all()
    assert SYSTEMS["nbody"].integrators == ("published", "velocity-verlet")


def test_positions_and_directions_are_isotropic_at_time_zero(data):
    position, velocity = np.split(data.states[:400, :, 0].reshape(-1, 6), 2, axis=-1)
    assert np.cov(position.T) == pytest.approx(np.eye(3), abs=0.08)
    assert np.cov(velocity.T) == pytest.approx(0.25 / 3 * np.eye(3), abs=0.006)
    assert position.mean(0) == pytest.approx(np.zeros(3), abs=0.07)


def test_weights_are_products_of_charges_between_all_pairs(data):
    edges = data.edges
    dense = np.zeros((440, 5, 5))
    dense[edges.edge_graph, edges.edge_receiver, edges.edge_sender] = edges.edge_attributes[:, 0]
    charge = dense[:, 0].copy()
    charge[:, 0] = 1.0
    np.testing.assert_array_equal(dense, charge[:, :, None] * charge[:, None] * (1 - np.eye(5)))


def test_persistence_and_constant_velocity_err_as_published(data):
    """From frame 30 to 40, in raw units: .27 and .105 over the benchmark's 2000 test systems."""
    q, v = np.split(data.states[:400], 2, axis=-1)
    moved = q[:, :, 40] - q[:, :, 30]
    assert (moved**2).mean() == pytest.approx(0.27, rel=0.2)
    assert ((moved - v[:, :, 30]) ** 2).mean() == pytest.approx(0.105, rel=0.35)
