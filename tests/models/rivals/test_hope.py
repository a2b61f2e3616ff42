"""HOPE: a damped second-order graph ODE, and a twin encoder of attention and convolutions."""

import pytest
import torch
from torch.nn.functional import silu, softplus
from torch.testing import assert_close

from pgode.models.rivals.hope import Laplacian

LATENT = 3


@pytest.fixture
def model(make):
    made = make("hope", latent=LATENT, encoder_width=6, solver={"step": 0.01})
    torch.nn.init.normal_(made.dynamics.damping)
    return made


def without_force(model) -> None:
    for parameter in model.dynamics.force.second.parameters():
        torch.nn.init.zeros_(parameter)


def dense(graph) -> torch.Tensor:
    weights = torch.zeros(graph.rows, graph.rows).double()
    weights[graph.receivers, graph.senders.long()] = graph.weights
    return weights


def test_derivative_is_momentum_and_force_minus_damping(model, batch):
    second, graph = model.dynamics, batch.graph
    y = torch.randn(batch.objects, 2 * LATENT).double()
    messages = torch.zeros(batch.objects, second.edge.shape[1]).double()
    for e, (i, j) in enumerate(zip(graph.receivers.tolist(), graph.senders.tolist(), strict=True)):
        sent = graph.attributes[e] @ second.edge + second.send.weight @ y[j]
        messages[i] += torch.relu(second.receive.weight @ y[i] + second.receive.bias + sent)
    first = torch.cat([y, messages], dim=1) @ second.force.first.weight.T + second.force.first.bias
    force = silu(first) @ second.force.second.weight.T + second.force.second.bias
    momentum = y[:, LATENT:]
    expected = torch.cat([momentum, force - softplus(second.damping) * momentum], dim=1)
    assert_close(second.bind(graph)(torch.zeros(batch.objects), y), expected)


def test_momentum_without_force_decays_exponentially(model, batch):
    without_force(model)
    z, p = model.encode(batch).posterior.mean.chunk(2, dim=1)
    frames = torch.tensor([[2.0, 7.0]]).double().expand(batch.systems, -1)
    gamma, t = softplus(model.dynamics.damping), 0.1 * frames[0, :, None, None]
    assert (gamma > 0).all()
    kept = torch.exp(-gamma * t)
    states = torch.cat([z + p * (1 - kept) / gamma, p * kept], dim=2)
    assert_close(model.forecast(batch, frames).mean, model.decoder(states).transpose(0, 1))


def test_without_force_and_damping_the_state_moves_in_a_straight_line(model, batch):
    without_force(model)
    with torch.no_grad():
        model.dynamics.damping.fill_(-100)
    frames = torch.arange(4).double().expand(batch.systems, -1)
    mean = model.forecast(batch, frames).mean
    slope = mean[:, 1] - mean[:, 0]
    assert slope.abs().amin() > 0
    assert_close(mean, mean[:, :1] + slope.unsqueeze(1) * frames[0, :, None])


def test_laplacian_is_symmetric_with_eigenvalues_within_one(batch):
    graph = batch.history.graph
    weights = (dense(graph) + dense(graph).T) / 2
    root = weights.abs().sum(1).clamp(min=1e-12).rsqrt()
    expected = -root[:, None] * weights * root
    laplacian = Laplacian(graph)(torch.eye(graph.rows).double())
    assert_close(laplacian, expected)
    assert_close(laplacian, laplacian.T)
    assert torch.linalg.eigvalsh(laplacian).abs().max() <= 1 + 1e-12


def test_convolution_sees_chebyshev_polynomials_of_the_laplacian(batch):
    laplacian = Laplacian(batch.history.graph)
    rows = batch.history.graph.rows
    x = torch.randn(rows, 2).double()
    values, vectors = torch.linalg.eigh(laplacian(torch.eye(rows).double()))
    angle = torch.arccos(values.clamp(-1, 1))
    terms = [vectors @ (torch.cos(k * angle)[:, None] * (vectors.T @ x)) for k in range(5)]
    assert_close(laplacian.chebyshev(x, 5), torch.cat(terms, dim=1))
    assert_close(laplacian.chebyshev(x, 1), x)


def test_both_branches_determine_the_initial_state(model, batch):
    before = model.encode(batch).posterior.mean
    summary = [model.attention(batch), model.spectral(batch)]
    mean = model.posterior.mean(torch.cat(summary, dim=1))
    assert_close(before, mean)
    for branch in (model.attention, model.spectral):
        with torch.no_grad():
            branch.embed.weight += 1
        after = model.encode(batch).posterior.mean
        seen = batch.observed.any(-1).any(-1)
        assert ((after - before).abs().amax(1) > 0)[seen].all()
        before = after
