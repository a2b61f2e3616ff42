"""EqMotion: its parts by value, and forecasts beyond the frames that it predicts at once."""

from dataclasses import replace

import torch
from tests.rigid_motions import strong
from torch.testing import assert_close

from pgode.models.rivals.eqmotion import all_pairs, cosine_transform, direction_gate
from pgode.nn.geometry import edge_displacement

SHORT = {"frames": 4, "history": 4}


def forecast(model, batch, frames: int) -> torch.Tensor:
    with torch.no_grad():
        return model.forecast(batch, torch.arange(1.0, frames + 1).double().expand(5, -1)).mean


def test_categories_of_each_pair_are_a_distribution_that_differs_between_pairs(make, batch):
    model = strong(make("eqmotion"))
    vectors, h = model.embed(model.geometry.observe(batch, 12), batch)
    kinds = model.reasoning(vectors, h, batch.graph)
    assert kinds.shape == (batch.graph.edges, 2)
    assert_close(kinds.sum(1), torch.ones(batch.graph.edges).double())
    assert (kinds > 0).all() and kinds.std(0).min() > 1e-3


def test_pull_of_a_pair_is_that_of_its_categories(make, batch):
    layer = strong(make("eqmotion").layers[0])
    for network in (layer.attention.second, layer.query):
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
    vectors, h = torch.randn(batch.objects, 2, 8).double(), torch.randn(batch.objects, 8).double()
    kinds = torch.rand(batch.graph.edges, 2).double()
    share = torch.ones(batch.objects, 1).double()
    displacement = edge_displacement(vectors, batch.graph)
    hidden = layer.pair(h, displacement, batch.graph)
    parts = [kinds[:, [k]] * hidden[:, 8 * k : 8 * k + 8] for k in range(2)]
    weight = sum(part @ layer.weight.weight[:, 8 * k : 8 * k + 8].T for k, part in enumerate(parts))
    expected = vectors.clone()
    for e, i in enumerate(batch.graph.receivers.tolist()):
        j = batch.graph.senders[e].long()
        expected[i] += weight[e] * (vectors[i] - vectors[j])
    assert_close(layer(vectors, h, kinds, batch.graph, share)[0], expected)


def test_gate_removes_the_component_opposite_to_the_key():
    query = torch.randn(6, 3, 8).double()
    key = torch.randn(6, 3, 8).double()
    gated = direction_gate(query, key)
    along = (query * key).sum(1)
    kept = (along >= 0).unsqueeze(1).expand_as(query)
    assert_close(gated[kept], query[kept])
    assert_close((gated * key).sum(1), along.clamp(min=0), atol=1e-4, rtol=0)


def test_cosine_transform_is_orthogonal_and_maps_constants_to_its_first_wave():
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


def test_later_frames_are_forecast_from_the_forecast(make, batch):
    model = strong(make("eqmotion", **SHORT))
    together = forecast(model, batch, 8)
    regular = torch.arange(-3.0, 1.0).double().expand(5, -1)
    observed = torch.ones_like(together[:, :4], dtype=torch.bool)
    continued = replace(batch, states=together[:, :4], observed=observed, times=regular)
    again = forecast(model, continued, 4)
    assert_close(again, together[:, 4:])
