"""The temporal graph encoder against Eq. 3-5 written out node by node."""

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, uneven
from torch.nn.functional import silu
from torch.testing import assert_close

from pgode.nn.encoder import TemporalGraphEncoder
from pgode.nn.time_embedding import time_embedding
from pgode.normaliser import Normaliser
from pgode.windows import Batch, Windows

WIDTH = 6


@pytest.fixture
def batch() -> Batch:
    data = uneven()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    return windows.batch(np.arange(5), np.zeros(5, int)).to(dtype=torch.float64)


def encoder(normalise: bool = False, share: bool = False, layers: int = 2) -> TemporalGraphEncoder:
    made = TemporalGraphEncoder(5, WIDTH, layers, normalise=normalise, share=share).double()
    for norm in made.norms:
        for parameter in norm.parameters():
            torch.nn.init.normal_(parameter)
    return made


def literal(made: TemporalGraphEncoder, batch: Batch) -> torch.Tensor:
    """Eq. 3-5, one node and one edge at a time, from the batch's dense adjacency."""
    history, graph = batch.history, batch.history.graph
    nodes = len(history.node_object)
    adjacency = torch.zeros(nodes, nodes, dtype=torch.float64)
    temporal = torch.zeros(nodes, nodes, dtype=torch.bool)
    adjacency[graph.receivers, graph.senders.long()] = graph.weights
    temporal[graph.receivers, graph.senders.long()] = history.temporal
    if made.share:
        spatial = (adjacency != 0) & ~temporal
        degree = spatial.sum(1, keepdim=True).clamp(min=1)
        adjacency = torch.where(spatial, adjacency / degree, adjacency)
    h, embedded = [], []
    for i, t in zip(history.node_object, history.node_frame, strict=True):
        known = batch.observed[i, t].double()
        h.append(made.embed(torch.cat([batch.states[i, t] * known, known])))
        embedded.append(time_embedding(batch.times[batch.system[i], t].reshape(1), WIDTH)[0])
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


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("normalise", [False, True])
def test_contexts_are_those_of_the_equations(batch, normalise, share):
    made = encoder(normalise, share)
    assert_close(made(batch), literal(made, batch))


def test_without_norm_and_sharing_the_equations_are_the_papers_own(batch):
    made = encoder()
    assert all(not list(norm.parameters()) for norm in made.norms)
    assert_close(made._weights(batch), batch.history.graph.weights / WIDTH**0.5)


def test_object_that_was_never_seen_has_no_context(batch):
    never = ~batch.observed.any(-1).any(-1)
    assert never.sum() == 1
    assert (encoder()(batch)[never] == 0).all()


def test_contexts_see_what_was_observed_not_only_its_value(batch):
    # A value of zero that was seen and one that was not are different observations.
    assert encoder().embed.in_features == 2 * batch.states.shape[-1]


def test_gradients_reach_every_parameter(batch):
    made = encoder(normalise=True, share=True)
    made(batch).square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in made.parameters())
