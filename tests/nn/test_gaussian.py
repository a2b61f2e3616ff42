"""The distribution of an initial state (Eq. 8)."""

import torch
from torch.distributions import Normal, kl_divergence
from torch.testing import assert_close

from pgode.nn.gaussian import DiagonalNormal


def test_divergence_is_that_from_the_standard_normal():
    mean, log_variance = torch.randn(4, 3), torch.randn(4, 3)
    ours = DiagonalNormal(mean, log_variance).divergence()
    exact = kl_divergence(Normal(mean, (0.5 * log_variance).exp()), Normal(0.0, 1.0))
    assert_close(ours, exact.sum(-1))


def test_standard_normal_has_no_divergence():
    assert DiagonalNormal(torch.zeros(2, 3), torch.zeros(2, 3)).divergence().tolist() == [0, 0]


def test_draws_have_the_mean_and_the_variance():
    mean, log_variance = torch.tensor([[1.0, -2.0]]), torch.tensor([[0.0, -1.0]])
    one = DiagonalNormal(mean.expand(40_000, 2), log_variance.expand(40_000, 2)).sample()
    assert_close(one.mean(0), mean[0], atol=0.02, rtol=0)
    assert_close(one.var(0), log_variance[0].exp(), atol=0.02, rtol=0)


def test_draw_passes_gradients_to_mean_and_variance():
    mean, log_variance = (
        torch.zeros(1, 2, requires_grad=True),
        torch.zeros(1, 2, requires_grad=True),
    )
    draw = DiagonalNormal(mean, log_variance).sample()
    draw.sum().backward()
    assert_close(mean.grad, torch.ones(1, 2))
    assert_close(log_variance.grad, 0.5 * draw.detach())
