"""Attention over observations, and its pooling, against their equations written node by node."""

from dataclasses import replace

import torch
from tests.small_systems import CONDITION
from torch.nn.functional import silu
from torch.testing import assert_close

from pgode.batches.windows import Batch
from pgode.nn.attention import TIME_SCALE, AttentionEncoder, node_times, observations
from pgode.nn.time_embedding import time_embedding

WIDTH = 6
FEATURES = 5


def encoder(layers: int = 2) -> AttentionEncoder:
    torch.manual_seed(0)
    made = AttentionEncoder(FEATURES, WIDTH, layers).double()
    for layer in made.layers:
        torch.nn.init.normal_(layer.norm.weight)
        torch.nn.init.normal_(layer.norm.bias)
    return made


def timed(mix, h: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
    mixed = mix.weight @ torch.cat([h, TIME_SCALE * time.reshape(1)]) + mix.bias
    return silu(mixed) + time_embedding(time.reshape(1), WIDTH)[0]


def attended(layer, h: list[torch.Tensor], batch: Batch) -> list[torch.Tensor]:
    """One layer, one observation and one edge at a time."""
    history, graph, times = batch.history, batch.history.graph, node_times(batch)
    known, receivers = [layer.norm(x) for x in h], graph.receivers
    updated = []
    for n, own in enumerate(known):
        scores, values = [], []
        for e in torch.nonzero(receivers == n).flatten():
            m = int(graph.senders[e])
            maps = layer.own if history.temporal[e] else layer.other
            sent = maps.weight @ timed(layer.timed, known[m], times[m] - times[n])
            scores.append((layer.query.weight @ own) @ sent[:WIDTH] / WIDTH**0.5)
            values.append(graph.weights[e] * sent[WIDTH:])
        if scores:
            share = torch.softmax(torch.stack(scores), dim=0)
            updated.append(h[n] + silu(share @ torch.stack(values)))
        else:
            updated.append(h[n] + silu(torch.zeros(WIDTH, dtype=torch.float64)))
    return updated


def pooled(pool, h: list[torch.Tensor], batch: Batch) -> torch.Tensor:
    owner, frame, times = batch.history.node_object, batch.history.node_frame, node_times(batch)
    vectors = []
    for i in range(batch.objects):
        own = torch.nonzero(owner == i).flatten().tolist()
        if not own:
            vectors.append(torch.zeros(2 * WIDTH, dtype=torch.float64))
            continue
        x = torch.stack([timed(pool.timed, h[n], times[n]) for n in own])
        a = torch.tanh(pool.ask(x.mean(0)))
        u = (torch.sigmoid(x @ a)[:, None] * x).mean(0)
        vectors.append(torch.cat([u, h[max(own, key=lambda n: int(frame[n]))]]))
    return torch.stack(vectors)


def test_vectors_are_those_of_the_equations(batch):
    made = encoder()
    h = [made.embed(o) for o in observations(batch)]
    for layer in made.layers:
        h = attended(layer, h, batch)
    assert_close(made(batch), pooled(made.pool, h, batch))


def test_object_that_was_never_seen_has_zeros(batch):
    never = ~batch.observed.any(-1).any(-1)
    assert never.sum() == 1
    assert (encoder()(batch)[never] == 0).all()


def test_keys_and_values_of_other_objects_do_not_affect_an_object_on_its_own(batch):
    made = encoder()
    before = made(batch)
    with torch.no_grad():
        for layer in made.layers:
            layer.other.weight += 1
    alone = batch.system == 4
    assert alone.sum() == 1
    changed = (made(batch) - before).abs().amax(1)
    assert (changed[alone] == 0).all()
    assert (changed[batch.system == 1] > 0).any()


def reach(layers: int, batch: Batch, frame: int) -> torch.Tensor:
    """Which objects' vectors depend on object 0 at one frame."""
    made = encoder(layers)
    states = batch.states.clone().requires_grad_()
    out = made(replace(batch, states=states))
    affected = []
    for i in range(batch.objects):
        (slope,) = torch.autograd.grad(out[i].square().sum(), states, retain_graph=True)
        affected.append(bool(slope[0, frame].any()))
    return torch.tensor(affected)


def test_every_frame_reaches_the_object_and_its_neighbours_and_no_other_system(batch):
    assert batch.observed[0].any(-1).all()
    now = batch.graph.receivers[batch.graph.senders == 0]
    for frame in range(CONDITION):
        affected = reach(1, batch, frame)
        assert affected[0]
        assert not affected[batch.system != 0].any()
        if frame == CONDITION - 1:
            receivers = [i for i in now.tolist() if batch.observed[i, frame].any()]
            assert sorted(receivers) == torch.nonzero(affected[1:]).flatten().add(1).tolist()


def test_weight_of_an_edge_scales_its_message(batch):
    made = encoder(1)
    graph = batch.history.graph
    silent = replace(graph, attributes=graph.attributes * torch.tensor([[0.0, 1.0]]).double())
    quiet = made(replace(batch, history=replace(batch.history, graph=silent)))
    h = made.embed(observations(batch))
    assert_close(quiet, made.pool(h, batch))


def test_gradients_reach_every_parameter(batch):
    made = encoder()
    made(batch).square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in made.parameters())
