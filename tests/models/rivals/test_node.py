"""NODE: a posterior per object, one function for all, a linear decoder of the change."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import Normal, kl_divergence
from torch.testing import assert_close

from pgode.models import model_config
from pgode.nn.frames import last_observed


@pytest.fixture
def model(make):
    return make("node")


def every(times: list[float]) -> torch.Tensor:
    return torch.tensor([times], dtype=torch.float64).expand(5, -1)


def test_posterior_is_read_off_the_summary_and_starts_narrow(model, batch):
    summary = model.encoder(batch)
    posterior = model.encode(batch).posterior
    assert_close(posterior.mean, model.posterior.mean(summary))
    assert_close(posterior.log_variance, model.posterior.log_variance(summary))
    assert (posterior.log_variance < -4).all()


def test_one_frame_is_one_step_of_runge_and_kutta(model, batch):
    with torch.no_grad():
        ours = model.forecast(batch, every([1.0])).mean[:, 0]
        z, f, h = model.encode(batch).posterior.mean, model.f, 0.1
        first = f(z)
        second = f(z + h / 2 * first)
        third = f(z + h / 2 * second)
        fourth = f(z + h * third)
        change = h / 6 * (first + 2 * second + 2 * third + fourth)
        assert_close(ours, last_observed(batch)[0] + change @ model.decoder.weight.T)


def test_forecast_starts_at_the_last_observation_whatever_is_drawn(model, batch):
    with torch.no_grad():
        model.posterior.log_variance.second.bias.zero_()
        forecast = model.forecast(batch, every([0.0]), samples=2)
    for one in (forecast.mean, *forecast.samples):
        assert_close(one[:, 0], last_observed(batch)[0])


def test_objects_do_not_affect_each_other(model, batch):
    states = batch.states.clone()
    states[0] += 1
    with torch.no_grad():
        alone = model.forecast(batch, batch.target_times).mean
        changed = model.forecast(replace(batch, states=states), batch.target_times).mean
    assert not torch.allclose(changed[0], alone[0])
    assert_close(changed[1:], alone[1:])


def test_samples_spread_as_wide_as_the_posterior(model, batch):
    def spread(log_variance: float) -> torch.Tensor:
        torch.manual_seed(0)
        with torch.no_grad():
            torch.nn.init.zeros_(model.posterior.log_variance.second.weight)
            torch.nn.init.constant_(model.posterior.log_variance.second.bias, log_variance)
            forecast = model.forecast(batch, batch.target_times, samples=4)
        return (forecast.samples - forecast.mean).square().mean().sqrt()

    narrow, wide = spread(-12.0), spread(-8.0)
    assert narrow > 0
    # Small deviations are mapped linearly by the flow: e^2 times as wide.
    assert_close(wide / narrow, torch.tensor(2.0).double().exp(), rtol=0.02, atol=0)


def test_loss_is_the_error_and_the_divergence_from_the_prior(make, batch):
    model = make("node", objective={"sample": False, "sigma": 0.5, "kl_weight": 3.0})
    losses = model.loss(batch)
    wrong = model.forecast(batch, batch.target_times).mean - batch.targets
    assert_close(losses.terms["mse"], wrong[batch.targets_observed].square().mean())
    posterior = model.encode(batch).posterior
    normal = Normal(posterior.mean, (0.5 * posterior.log_variance).exp())
    divergence = kl_divergence(normal, Normal(torch.zeros(()).double(), 1.0)).sum()
    expected = 2 * 0.5**2 * 3 * divergence / batch.targets_observed.sum()
    assert_close(losses.total, losses.terms["mse"] + expected)


def test_function_is_a_network_of_64_200_64_by_default():
    config = model_config("node", {})
    assert (config.width, config.hidden, config.solver.method) == (64, 200, "rk4")
