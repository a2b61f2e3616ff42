"""The temporal graph encoder against Eq. 3-5 written out node by node."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, uneven
from torch.nn.functional import silu
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.pgode.encoder import RATE_SCALE, EncoderConfig, TemporalGraphEncoder
from pgode.nn.time_embedding import time_embedding

WIDTH = 6


@pytest.fixture
def batch() -> Batch:
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    return windows.batch(np.arange(5), np.zeros(5, int)).to(dtype=torch.float64)


OPTIONS = ("layer_norm", "degree_normalise", "rates", "relation", "recompute")


def encoder(*chosen: str, layers: int = 2) -> TemporalGraphEncoder:
    """An encoder with these options; without any it is the paper's."""
    config = EncoderConfig(layers=layers, **{name: name in chosen for name in OPTIONS[:-1]})
    recompute = "recompute" in chosen
    made = TemporalGraphEncoder(5, WIDTH, config, recompute=recompute).double()
    for norm in made.norms:
        for parameter in norm.parameters():
            torch.nn.init.normal_(parameter)
    return made


def observation(made: TemporalGraphEncoder, batch: Batch, i: int, t: int) -> torch.Tensor:
    """What is known of object i at frame t: values, mask, and perhaps changes until t + 1."""
    known = batch.observed[i, t].double()
    parts = [batch.states[i, t] * known, known]
    if made.config.rates:
        rate, both = torch.zeros(2, len(known), dtype=torch.float64)
        if t + 1 < CONDITION:
            both = known * batch.observed[i, t + 1]
            times = batch.times[batch.system[i]]
            change = (batch.states[i, t + 1] - batch.states[i, t]) / (times[t + 1] - times[t])
            rate = RATE_SCALE * change * both
        parts += [rate, both]
    return torch.cat(parts)


def literal(made: TemporalGraphEncoder, batch: Batch) -> torch.Tensor:
    """Eq. 3-5, one node and one edge at a time, from the batch's dense adjacency."""
    history, graph = batch.history, batch.history.graph
    nodes = len(history.node_object)
    adjacency = torch.zeros(nodes, nodes, dtype=torch.float64)
    temporal = torch.zeros(nodes, nodes, dtype=torch.bool)
    adjacency[graph.receivers, graph.senders.long()] = graph.weights
    temporal[graph.receivers, graph.senders.long()] = history.temporal
    weight, joined = adjacency, adjacency != 0
    if made.config.degree_normalise:
        spatial = (adjacency != 0) & ~temporal
        degree = spatial.sum(1, keepdim=True).clamp(min=1)
        adjacency = torch.where(spatial, adjacency / degree, adjacency)
    seen_at = list(zip(history.node_object.tolist(), history.node_frame.tolist(), strict=True))
    observations = [observation(made, batch, i, t) for i, t in seen_at]
    h = [made.embed(o) for o in observations]
    embedded = [
        time_embedding(batch.times[batch.system[i], t].reshape(1), WIDTH)[0] for i, t in seen_at
    ]
    if made.relation is not None:
        r = made.relation
        for n in range(nodes):
            heard = torch.zeros(WIDTH, dtype=torch.float64)
            for m in torch.nonzero(joined[n]).flatten():
                kind = torch.stack([weight[n, m], temporal[n, m].double()])
                pair = r.receive(observations[n]) + r.send.weight @ observations[m]
                heard = heard + torch.relu(pair + kind @ r.edge)
            h[n] = h[n] + r.out.weight @ heard
    for layer in range(len(made.norms)):
        seen = [made.norms[layer](x) + e for x, e in zip(h, embedded, strict=True)]
        updated = []
        for n in range(nodes):
            total = torch.zeros(WIDTH, dtype=torch.float64)
            for m in torch.nonzero(adjacency[n]).flatten():
                query = made.query[layer].weight @ seen[n]
                key = made.key[layer].weight @ seen[m]
                alpha = adjacency[n, m] / WIDTH**0.5 * (query @ key)
                total = total + alpha * (made.value[layer].weight @ seen[m])
            updated.append(h[n] + silu(total))
        h = updated
    summaries = [silu(made.summary(x + e)) for x, e in zip(h, embedded, strict=True)]
    contexts = []
    for i in range(batch.objects):
        own = [s for s, owner in zip(summaries, history.node_object, strict=True) if owner == i]
        none = torch.zeros(WIDTH, dtype=torch.float64)
        contexts.append(torch.stack(own).mean(0) if own else none)
    return torch.stack(contexts)


@pytest.mark.parametrize(
    "chosen", [(), *((name,) for name in OPTIONS), OPTIONS], ids=lambda chosen: "-".join(chosen)
)
def test_contexts_are_those_of_the_equations(batch, chosen):
    made = encoder(*chosen)
    assert_close(made(batch), literal(made, batch))


def test_without_options_the_equations_are_the_papers_own(batch):
    made = encoder()
    assert all(not list(norm.parameters()) for norm in made.norms)
    assert_close(made._weights(batch), batch.history.graph.weights / WIDTH**0.5)


def test_object_that_was_never_seen_has_no_context(batch):
    never = ~batch.observed.any(-1).any(-1)
    assert never.sum() == 1
    assert (encoder()(batch)[never] == 0).all()


def test_contexts_see_what_was_observed_not_only_its_value(batch):
    # A value of zero that was seen and one that was not are different observations.
    made = encoder()
    seen = batch.observed.clone()
    seen[0, 0] = True
    states = batch.states * batch.observed
    one, other = replace(batch, states=states, observed=seen), replace(batch, states=states)
    assert not torch.equal(seen, batch.observed)
    assert not torch.allclose(made(one)[0], made(other)[0])


def test_rates_end_with_the_condition(batch):
    last = encoder("rates")._observations(batch)[:, -1, 2 * batch.states.shape[-1] :]
    assert (last == 0).all()


def test_gradients_reach_every_parameter(batch):
    made = encoder(*OPTIONS)
    made(batch).square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in made.parameters())
