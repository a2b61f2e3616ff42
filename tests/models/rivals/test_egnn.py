"""EGNN: exact symmetry, the layer's equations edge by edge, and where a forecast starts."""

import numpy as np
import pytest
import torch
from tests.rigid_motions import in_space, moved, moved_batch, strong, turn, whole_vectors
from torch.nn.functional import silu
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

SHIFT = torch.tensor([3.0, -2.0, 0.7], dtype=torch.float64)
EXACT = {"atol": 1e-10, "rtol": 1e-10}


def forecast(model, batch):
    with torch.no_grad():
        return model.forecast(batch, batch.target_times)


@pytest.mark.parametrize("mirror", [False, True])
def test_turning_and_shifting_the_data_does_the_same_to_the_forecast(
    make, batch, normaliser, mirror
):
    model, matrix, shift = strong(make("egnn")), turn(2, mirror=mirror), SHIFT[:2]
    here = whole_vectors(batch, normaliser)
    before = forecast(model, here)
    after = forecast(model, moved_batch(here, normaliser, matrix, shift))
    assert_close(after.mean, moved(before.mean, normaliser, matrix, shift), **EXACT)
    assert_close(after.contexts["object_context"], before.contexts["object_context"], **EXACT)
    straight = forecast(make("constant-velocity"), here).mean
    assert (before.mean - straight).abs().max() > 0.1


@pytest.mark.parametrize("velocities", [True, False])
def test_symmetry_holds_in_three_dimensions_with_and_without_named_velocities(make, velocities):
    normaliser, batch = in_space(velocities=velocities)
    model, matrix = strong(make("egnn", like=normaliser)), turn(3, mirror=True)
    before = forecast(model, batch).mean
    after = forecast(model, moved_batch(batch, normaliser, matrix, SHIFT)).mean
    assert_close(after, moved(before, normaliser, matrix, SHIFT), **EXACT)


def test_layer_is_that_of_the_equations_edge_by_edge(make, batch):
    layer = make("egnn").layers[0]
    graph, width, gain = batch.graph, 8, 0.2
    h, x, v = (torch.randn(batch.objects, size).double() for size in (width, 2, 2))
    share = torch.rand(batch.objects, 1).double()
    new_h, new_x, new_v = layer(h, x, v, graph, share, gain)
    for i in range(batch.objects):
        heard, pull = torch.zeros(width).double(), torch.zeros(2).double()
        for e in torch.nonzero(graph.receivers == i)[:, 0]:
            j = graph.senders[e].long()
            known = torch.cat([(x[i] - x[j]).square().sum().view(1), graph.attributes[e]])
            first = layer.receive(h[i]) + layer.send(h[j]) + layer.edge(known)
            m = silu(layer.message(silu(first)))
            heard, pull = heard + m, pull + (x[i] - x[j]) * layer.attract(m)
        velocity = (1 + layer.inertia(h[i])) * v[i] + share[i] * pull
        assert_close(new_v[i], velocity)
        assert_close(new_x[i], x[i] + gain * velocity)
        assert_close(new_h[i], h[i] + layer.update(torch.cat([h[i], heard])))


@pytest.mark.parametrize("velocities", [True, False])
def test_without_forces_motion_is_that_of_constant_velocity(make, velocities):
    like, batch = in_space(velocities=velocities)
    model = make("egnn", like=like)
    for network in (model.decoder, *(n for x in model.layers for n in (x.attract, x.inertia))):
        for parameter in network.second.parameters():
            torch.nn.init.zeros_(parameter)
    seen = batch.observed.any(1).all(1)
    ours = forecast(model, batch).mean
    assert_close(ours[seen], forecast(make("constant-velocity", like=like), batch).mean[seen])


def test_data_without_positions_are_refused(make):
    data = Trajectories.build(
        np.random.default_rng(0).normal(size=(3, 2, 7, 2)),
        np.arange(7) * 1.0,
        edges=np.ones((3, 2, 2)) - np.eye(2),
        features=("a", "b"),
    )
    with pytest.raises(InputError, match=r"EGNN needs positions.*a, b.*role"):
        make("egnn", like=Normaliser.fit(data))
