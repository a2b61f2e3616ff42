"""LG-ODE: one graph network as right-hand side, from a posterior augmented by zeros."""

import pytest
import torch
from torch.nn.functional import pad, silu
from torch.testing import assert_close

LATENT, AUGMENTED = 3, 2


@pytest.fixture
def model(make):
    return make("lg-ode", latent=LATENT, augmented=AUGMENTED, encoder_width=6)


def at_start(batch) -> torch.Tensor:
    return torch.zeros_like(batch.target_times[:, :1])


def test_derivative_is_the_graph_network_edge_by_edge_without_recovery(model, batch):
    network, relation, graph = model.dynamics, model.dynamics.relation, batch.graph
    z = torch.randn(batch.objects, LATENT + AUGMENTED).double()
    x = z @ network.enter.weight.T + network.enter.bias
    messages = torch.zeros_like(x)
    for e, (i, j) in enumerate(zip(graph.receivers.tolist(), graph.senders.tolist(), strict=True)):
        sent = graph.attributes[e] @ relation.edge + relation.send.weight @ x[j]
        messages[i] += torch.relu(relation.receive.weight @ x[i] + relation.receive.bias + sent)
    update = network.update
    first = torch.cat([x, messages], dim=1) @ update.first.weight.T + update.first.bias
    updated = x + silu(first) @ update.second.weight.T + update.second.bias
    expected = updated @ network.leave.weight.T + network.leave.bias
    assert_close(network.bind(graph)(torch.zeros(batch.objects), z), expected)


def test_only_some_dimensions_are_inferred_and_the_others_start_at_zero(model, batch):
    posterior = model.encode(batch).posterior
    assert posterior.mean.shape == posterior.log_variance.shape == (batch.objects, LATENT)
    start = pad(posterior.mean, (0, AUGMENTED))
    assert_close(model.forecast(batch, at_start(batch)).mean[:, 0], model.decoder(start))


def test_dimensions_that_start_at_zero_affect_the_forecast(model, batch):
    before = model.forecast(batch, batch.target_times).mean
    with torch.no_grad():
        model.decoder.weight[:, LATENT:] += 1
    after = model.forecast(batch, batch.target_times).mean
    assert (after - before).abs().amin() > 0


def test_samples_are_decoded_draws_of_the_posterior(model, batch):
    torch.manual_seed(3)
    samples = model.forecast(batch, at_start(batch), samples=2).samples[:, :, 0]
    torch.manual_seed(3)
    posterior = model.encode(batch).posterior
    drawn = torch.stack([posterior.sample(), posterior.sample()])
    assert_close(samples, model.decoder(pad(drawn, (0, AUGMENTED))))


def test_training_draws_and_can_start_from_the_mean_instead(make, batch):
    def losses(**settings) -> tuple[float, float]:
        model = make("lg-ode", **settings)
        return model.loss(batch).total.item(), model.loss(batch).total.item()

    first, second = losses()
    assert first != second
    first, second = losses(objective={"sample": False})
    assert first == second


def test_defaults_are_the_sizes_of_the_original(make):
    model = make("lg-ode", width=128)
    assert (model.dynamics.enter.in_features, model.dynamics.enter.out_features) == (80, 128)
    assert model.posterior.mean.second.out_features == 16
    assert model.decoder.in_features == 80
