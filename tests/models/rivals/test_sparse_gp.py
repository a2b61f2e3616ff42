"""Sparse Gaussian process: its mean, its draws and its divergence, by plain algebra."""

import pytest
import torch
from torch.distributions import Normal, kl_divergence
from torch.testing import assert_close

from pgode.models.rivals.igpode.sparse_gp import JITTER, STRIDE, SparseGP


@pytest.fixture
def process():
    torch.manual_seed(0)
    made = SparseGP(3, 2, 7).double()
    with torch.no_grad():
        made.mean.normal_(std=0.1)
        for parameter in (made.log_length, made.log_amplitude):
            parameter.copy_(torch.randn_like(parameter))
        made.log_deviation.uniform_(-0.1, 0)
    return made


def kernel(process: SparseGP, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """k(a, b) by plain algebra."""
    length = process.log_length.exp() * process.unit
    return torch.exp(-(((a[:, None] - b[None]) / length) ** 2).sum(-1) / 2)


def root(process: SparseGP) -> torch.Tensor:
    """L, the Cholesky factor of K."""
    gram = kernel(process, process.points, process.points)
    return torch.linalg.cholesky(gram + JITTER * torch.eye(len(gram)).double())


def whitening(process: SparseGP, x: torch.Tensor) -> torch.Tensor:
    """k(x, Z) L^-T, which takes w to f."""
    return kernel(process, x, process.points) @ torch.linalg.inv(root(process)).T


def test_mean_function_passes_through_the_inducing_values(process):
    with torch.no_grad():
        process.points.mul_(3)
        values = process.log_amplitude.exp() * (root(process) @ process.posterior().mean)
        assert_close(process.function(draw=False)(process.points), values, atol=2e-3, rtol=2e-3)


def test_function_is_the_conditional_mean_given_the_inducing_values(process):
    x = torch.randn(11, 3).double()
    expected = process.log_amplitude.exp() * (whitening(process, x) @ process.posterior().mean)
    assert_close(process.function(draw=False)(x), expected)


def test_a_draw_is_one_function_in_all_its_evaluations(process):
    x = torch.randn(11, 3).double()
    first, second = process.function(draw=True), process.function(draw=True)
    assert_close(first(x), first(x), atol=0, rtol=0)
    assert_close(first(x[4:5]), first(x)[4:5])
    assert (first(x) - second(x)).abs().max() > 0.1


def test_draws_have_the_mean_and_variance_of_the_posterior(process):
    x = torch.randn(5, 3).double()
    torch.manual_seed(1)
    with torch.no_grad():
        drawn = torch.stack([process.function(draw=True)(x) for _ in range(1000)])
        mean = process.function(draw=False)(x)
        share = whitening(process, x).square() @ process.posterior().log_variance.exp()
        variance = (2 * process.log_amplitude).exp() * share
    assert_close(drawn.mean(0), mean, atol=0.1, rtol=0)
    assert_close(drawn.var(0), variance, rtol=0.2, atol=1e-3)


def test_function_returns_to_its_prior_mean_far_from_all_points(process):
    far = torch.full((1, 3), 1e3).double()
    assert_close(process.function(draw=True)(far), torch.zeros(1, 2).double(), atol=1e-12, rtol=0)


def test_divergence_is_that_of_normal_distributions(process):
    posterior = Normal(process.posterior().mean, (STRIDE * process.log_deviation).exp())
    prior = Normal(torch.zeros(7, 2).double(), torch.ones(7, 2).double())
    assert_close(process.divergence(), kl_divergence(posterior, prior).sum())


def test_single_precision_agrees_with_double(process):
    x = torch.randn(11, 3).double()
    double = process.function(draw=False)(x)
    single = process.float().function(draw=False)(x.float())
    assert single.dtype == torch.float32
    assert_close(single.double(), double, atol=1e-4, rtol=1e-4)
