"""NRI: kinds of edges inferred for all pairs, and the decoder that uses them."""

import math
from dataclasses import replace

import pytest
import torch
from tests.small_systems import arrays, uneven
from torch.testing import assert_close

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models.rivals.nri import divergence_from_uniform

WIDTH, KINDS, MEMBERS = 8, 2, (4, 2, 3, 4, 1)


@pytest.fixture
def model(make):
    return make("nri")


def pairs(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(graph.receivers.tolist(), graph.senders.tolist(), strict=True))


def test_every_pair_has_probabilities_of_kinds_that_follow_a_permutation(model, data, cut, batch):
    order = [2, 0, 3, 1]
    _, graph, logits = model.infer(batch)
    assert graph.edges == sum(n * (n - 1) for n in MEMBERS)
    assert all(batch.system[i] == batch.system[j] and i != j for i, j in pairs(graph))
    assert_close(logits.softmax(-1).sum(-1), torch.ones(graph.edges).double())
    kinds = dict(zip(pairs(graph), logits, strict=True))
    _, moved_graph, moved = model.infer(cut(data.permuted(order)))
    for (i, j), kind in zip(pairs(moved_graph), moved, strict=True):
        if batch.system[i] == 0:
            assert_close(kind, kinds[order[i], order[j]])
            assert not torch.allclose(kind, kinds[i, j])


def test_the_graph_of_the_data_is_not_an_input(model, batch):
    other = replace(batch.graph, attributes=batch.graph.attributes + 3)
    with torch.no_grad():
        mean = model.forecast(batch, batch.target_times).mean
        changed = model.forecast(replace(batch, graph=other), batch.target_times).mean
    assert torch.equal(mean, changed)


def test_change_of_a_frame_is_the_formula_pair_by_pair(model, batch):
    decoder, relation = model.decoder, model.decoder.relation
    _, graph, logits = model.infer(batch)
    x, shares = torch.randn(batch.objects, 5).double(), logits.softmax(-1)
    expected = []
    for i in range(batch.objects):
        message = torch.zeros(WIDTH).double()
        for e, (receiver, j) in enumerate(pairs(graph)):
            if receiver != i:
                continue
            for k in range(KINDS):
                own = slice(k * WIDTH, (k + 1) * WIDTH)
                weight = torch.cat([relation.receive.weight[own], relation.send.weight[own]], dim=1)
                hidden = torch.relu(weight @ torch.cat([x[i], x[j]]) + relation.receive.bias[own])
                message = message + shares[e, k] * decoder.message.weight[:, own] @ hidden
        hidden = torch.relu(decoder.hidden(torch.cat([x[i], message])))
        expected.append(decoder.update(hidden))
    assert_close(decoder.change(x, graph, shares), torch.stack(expected))


def test_no_edge_sends_nothing(make, batch):
    model = make("nri", no_edge=True)
    frames, graph, _ = model.infer(batch)
    none = torch.tensor([1.0, 0.0]).double().expand(graph.edges, 2)
    alone = Graph.complete(torch.arange(batch.objects), torch.float64)
    times = batch.target_times
    with torch.no_grad():
        isolated = model.decode(batch, frames, alone, none[:0], times)
        assert_close(model.decode(batch, frames, graph, none, times), isolated)
        assert not torch.equal(model.decode(batch, frames, graph, none.flip(1), times), isolated)


def test_divergence_is_zero_for_no_knowledge_and_log_of_the_kinds_for_certainty():
    logits = torch.tensor([[0.0, 0.0, 0.0], [1e3, 0.0, 0.0], [math.log(2), 0.0, -1e3]]).double()
    third = math.log(3) + 2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)
    expected = torch.tensor([0.0, math.log(3), third]).double()
    assert_close(divergence_from_uniform(logits), expected)


def test_loss_is_the_squared_error_and_the_divergence_on_its_scale(make, batch):
    # At a low temperature the softmax of certain edges is one-hot, so draws do not matter.
    model = make("nri", temperature=1e-6)
    with torch.no_grad():
        model.encoder.second.out.bias += torch.tensor([1e4, 0.0])
        losses = model.loss(batch)
        mean = model.forecast(batch, batch.target_times).mean
    known = batch.targets_observed
    error = (mean - batch.targets)[known].square().mean()
    edges = sum(n * (n - 1) for n in MEMBERS)
    assert_close(losses.terms["mse"], error)
    assert_close(losses.terms["kl"], 2 * 5e-5 * edges * math.log(2) / known.sum().double())
    assert_close(losses.total, losses.terms["mse"] + losses.terms["kl"])


def test_samples_differ_where_kinds_are_uncertain_and_only_there(model, batch):
    uncertain = model.forecast(batch, batch.target_times, samples=6).samples
    alone = batch.system == 4
    assert uncertain[:, ~alone].std(0).max() > 0
    assert torch.equal(uncertain[0, alone], uncertain[1, alone])


def test_without_named_velocities_the_decoder_sees_the_last_change(make):
    given = arrays()
    data = Trajectories.build(
        given["states"][..., 1:2],
        given["times"],
        observed=given["observed"][..., 1:2],
        present=given["present"],
        features=("qx",),
        roles=("position",),
        edges=uneven().edges,
    )
    like = Normaliser.fit(data)
    batch = next(Windows(data, like, 4, 3).batches(5)).to(dtype=torch.float64)
    model = make("nri", like=like)
    frames, graph, logits = model.infer(batch)
    faster = frames.clone()
    faster[:, -2] -= 0.5
    known, weights = frames.new_empty(len(frames), 3, 0), logits.softmax(-1)
    rollouts = [model.decoder(f[:, -2:], graph, weights, known) for f in (frames, faster)]
    assert_close(rollouts[0][:, 0], rollouts[1][:, 0])
    assert not torch.equal(rollouts[0][:, 1], rollouts[1][:, 1])
