"""MPNODE: the mean of the neighbours' messages, and the derivative of state and message."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.batches.graph import Graph
from pgode.models.rivals.mpnode import mean_of_neighbours
from pgode.nn.frames import last_observed

FEATURES, MESSAGE = 5, 3


@pytest.fixture
def model(make):
    return make("mpnode", message=MESSAGE)


def every(times: list[float]) -> torch.Tensor:
    return torch.tensor([times], dtype=torch.float64).expand(5, -1)


def mean_message(graph: Graph, m: torch.Tensor, i: int) -> torch.Tensor:
    """The mean over object i's edges, one edge and one attribute at a time."""
    edges = torch.nonzero(graph.receivers == i)[:, 0].tolist()
    parts = []
    for attribute in range(graph.attributes.shape[1]):
        total = torch.zeros(m.shape[1]).double()
        for e in edges:
            total = total + graph.attributes[e, attribute] * m[graph.senders[e].long()]
        parts.append(total / max(len(edges), 1))
    return torch.cat(parts)


def test_derivative_is_one_network_of_state_mean_message_and_history(model, batch):
    y = torch.randn(batch.objects, FEATURES + MESSAGE).double()
    summary, f = model.encoder(batch), model.module
    derivative = f.bind(summary, batch.graph)(torch.zeros(batch.objects), y)
    assert batch.graph.attributes.shape[1] == 2
    for i in range(batch.objects):
        inputs = torch.cat([y[i, :FEATURES], mean_message(batch.graph, y[:, FEATURES:], i)])
        constant = torch.cat([summary[i], torch.log1p(batch.graph.degree[i : i + 1])])
        first = torch.tanh(f.inner(inputs) + f.outer.weight @ constant)
        assert_close(derivative[i], f.third(torch.tanh(f.second(first))))


def test_messages_are_averaged_with_signed_weights():
    weights = np.array([[1.0], [-1.0], [1.0]])
    graph = Graph.from_edges(
        np.array([0, 0, 1]), np.array([1, 2, 0]), weights, 3, dtype=torch.float64
    )
    m = torch.tensor([[1.0, 0.0], [4.0, 2.0], [2.0, 6.0]]).double()
    expected = torch.tensor([[1.0, -2.0], [1.0, 0.0], [0.0, 0.0]]).double()
    assert_close(mean_of_neighbours(graph)(m), expected)


def test_state_starts_at_the_last_observation_and_the_message_at_zero(model, batch):
    start, _ = last_observed(batch)
    with torch.no_grad():
        summary, small = model.encoder(batch), 1e-4
        y = torch.nn.functional.pad(start, (0, MESSAGE))
        slope = model.module.bind(summary, batch.graph)(torch.zeros(batch.objects), y)
        forecast = model.forecast(batch, every([0.0, small])).mean
    assert_close(forecast[:, 0], start)
    # One frame is 0.1 units of the solver's time.
    rate = (forecast[:, 1] - start) / (0.1 * small)
    assert_close(rate, slope[:, :FEATURES], rtol=1e-4, atol=1e-4)


def test_object_affects_those_that_its_edges_reach_and_no_others(model, batch):
    reach = torch.eye(batch.objects, dtype=torch.bool)
    reach[batch.graph.receivers, batch.graph.senders.long()] = True
    paths = torch.linalg.matrix_power(reach.double(), batch.objects) > 0
    assert paths.sum() > batch.objects  # some objects affect others
    with torch.no_grad():
        before = model.forecast(batch, every([4.0])).mean
    for changed in range(batch.objects):
        states, observed = batch.states.clone(), batch.observed.clone()
        states[changed], observed[changed] = 1.0, True
        other = replace(batch, states=states, observed=observed)
        with torch.no_grad():
            after = model.forecast(other, every([4.0])).mean
        differs = (before != after).any(-1).any(-1)
        assert torch.equal(differs, paths[:, changed])


def test_without_messages_modules_do_not_affect_each_other(model, batch):
    with torch.no_grad():
        model.module.third.weight[FEATURES:] = 0
        model.module.third.bias[FEATURES:] = 0
        before = model.forecast(batch, every([4.0])).mean
        states = batch.states.clone()
        states[0] += 1
        after = model.forecast(replace(batch, states=states), every([4.0])).mean
    assert_close(after[1:], before[1:])
    assert not torch.allclose(after[0], before[0])
