"""EqMotion: exact symmetry, its parts by value, and forecasts longer than it makes at once."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.rigid_motions import in_space, moved, moved_batch, strong, turn, whole_vectors
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.data.trajectories import Trajectories
from pgode.models.rivals.eqmotion import all_pairs, cosine_transform, direction_gate
from pgode.nn.geometry import apart
from pgode.runtime.errors import InputError

SHIFT = torch.tensor([3.0, -2.0, 0.7], dtype=torch.float64)
EXACT = {"atol": 1e-10, "rtol": 1e-10}
SHORT = {"frames": 4, "history": 4}


def forecast(model, batch, times=None):
    with torch.no_grad():
        return model.forecast(batch, batch.target_times if times is None else times)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("pairs", ["graph", "complete"])
def test_turning_and_shifting_the_data_does_the_same_to_the_forecast(
    make, batch, normaliser, pairs, mirror
):
    model = strong(make("eqmotion", pairs=pairs, **SHORT))
    matrix, shift = turn(2, mirror=mirror), SHIFT[:2]
    here = whole_vectors(batch, normaliser)
    before = forecast(model, here)
    after = forecast(model, moved_batch(here, normaliser, matrix, shift))
    assert_close(after.mean, moved(before.mean, normaliser, matrix, shift), **EXACT)
    assert_close(after.contexts["interactions"], before.contexts["interactions"], **EXACT)
    straight = forecast(make("constant-velocity"), here).mean
    assert (before.mean - straight).abs().max() > 0.1


@pytest.mark.parametrize("velocities", [True, False])
def test_symmetry_holds_in_three_dimensions_with_and_without_named_velocities(make, velocities):
    normaliser, batch = in_space(velocities=velocities)
    model, matrix = strong(make("eqmotion", like=normaliser, **SHORT)), turn(3, mirror=True)
    far = torch.arange(1.0, 7.0).double().expand(3, -1)
    before = forecast(model, batch, far).mean
    after = forecast(model, moved_batch(batch, normaliser, matrix, SHIFT), far).mean
    assert_close(after, moved(before, normaliser, matrix, SHIFT), **EXACT)


def test_categories_of_each_pair_are_a_distribution_that_differs_between_pairs(make, batch):
    model = strong(make("eqmotion"))
    vectors, h = model.embed(model.geometry.observe(batch, 12), batch)
    kinds = model.reasoning(vectors, h, batch.graph)
    assert kinds.shape == (batch.graph.edges, 2)
    assert_close(kinds.sum(1), torch.ones(batch.graph.edges).double())
    assert (kinds > 0).all() and kinds.std(0).min() > 1e-3


def test_pairs_pull_by_the_category_they_have(make, batch):
    layer = strong(make("eqmotion").layers[0])
    for network in (layer.attention.second, layer.query):
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
    vectors, h = torch.randn(batch.objects, 2, 8).double(), torch.randn(batch.objects, 8).double()
    kinds = torch.rand(batch.graph.edges, 2).double()
    share = torch.ones(batch.objects, 1).double()
    between = apart(vectors, batch.graph)
    hidden = layer.pair(h, between, batch.graph)
    parts = [kinds[:, [k]] * hidden[:, 8 * k : 8 * k + 8] for k in range(2)]
    weight = sum(part @ layer.weight.weight[:, 8 * k : 8 * k + 8].T for k, part in enumerate(parts))
    expected = vectors.clone()
    for e, i in enumerate(batch.graph.receivers.tolist()):
        j = batch.graph.senders[e].long()
        expected[i] += weight[e] * (vectors[i] - vectors[j])
    assert_close(layer(vectors, h, kinds, batch.graph, share)[0], expected)


def test_gate_takes_from_a_vector_what_points_against_its_key():
    query = torch.randn(6, 3, 8).double()
    key = torch.randn(6, 3, 8).double()
    gated = direction_gate(query, key)
    along = (query * key).sum(1)
    kept = (along >= 0).unsqueeze(1).expand_as(query)
    assert_close(gated[kept], query[kept])
    assert_close((gated * key).sum(1), along.clamp(min=0), atol=1e-4, rtol=0)


def test_cosine_transform_keeps_lengths_and_gathers_what_is_constant():
    transform = cosine_transform(6, torch.zeros(1).double())
    assert_close(transform @ transform.T, torch.eye(6).double())
    constant = transform @ torch.ones(6).double()
    assert_close(constant, torch.tensor([6**0.5, 0, 0, 0, 0, 0]).double())


def test_all_pairs_keep_the_attributes_of_the_edges_among_them(batch):
    pairs, size = all_pairs(batch), batch.objects
    dense, expected = torch.zeros(2, size, size, 2).double()
    dense[pairs.receivers, pairs.senders.long()] = pairs.attributes
    expected[batch.graph.receivers, batch.graph.senders.long()] = batch.graph.attributes
    assert_close(dense, expected)
    counts = torch.bincount(batch.system)
    assert pairs.edges == int((counts * (counts - 1)).sum())


def test_without_corrections_motion_is_that_of_constant_velocity(make):
    like, batch = in_space()
    model = make("eqmotion", like=like)
    for output in (model.position, model.velocity, model.value):
        for parameter in output.parameters():
            torch.nn.init.zeros_(parameter)
    seen = batch.observed.any(1).all(1)
    ours = forecast(model, batch).mean
    assert_close(ours[seen], forecast(make("constant-velocity", like=like), batch).mean[seen])


def test_later_frames_are_forecast_from_the_forecast_itself(make, batch):
    model = strong(make("eqmotion", **SHORT))
    together = forecast(model, batch, torch.arange(1.0, 9.0).double().expand(5, -1)).mean
    regular = torch.arange(-3.0, 1.0).double().expand(5, -1)
    observed = torch.ones_like(together[:, :4], dtype=torch.bool)
    follow = replace(batch, states=together[:, :4], observed=observed, times=regular)
    again = forecast(model, follow, torch.arange(1.0, 5.0).double().expand(5, -1)).mean
    assert_close(again, together[:, 4:])


def test_data_without_positions_are_refused(make):
    data = Trajectories.build(
        np.random.default_rng(0).normal(size=(3, 2, 7, 2)),
        np.arange(7) * 1.0,
        edges=np.ones((3, 2, 2)) - np.eye(2),
        features=("a", "b"),
    )
    with pytest.raises(InputError, match=r"EqMotion needs positions.*a, b.*role"):
        make("eqmotion", like=Normaliser.fit(data))
