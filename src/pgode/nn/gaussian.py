"""Diagonal normal distribution of an initial latent state (paper, Eq. 8)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.parallel.share import WHOLE, Share
from pgode.nn.feedforward import FeedForward

NARROW = -6.0
"""Logarithm of an untrained posterior's variance: a standard deviation of 0.05.

With a variance of 1, a network first has to learn to suppress its own noise, and some latent models
are no better than repeating the last value after a short training.
"""


@dataclass(frozen=True)
class DiagonalNormal:
    """N(mean, exp(log_variance)) per object."""

    mean: Float[Tensor, "objects width"]
    log_variance: Float[Tensor, "objects width"]

    def sample(self, share: Share = WHOLE) -> Float[Tensor, "objects width"]:
        """One draw, differentiable in mean and variance."""
        deviation = torch.exp(0.5 * self.log_variance)
        return self.mean + deviation * share.normal_like(self.mean)

    def start(self, draw: bool, share: Share = WHOLE) -> Float[Tensor, "objects width"]:
        """The state that training starts from: a draw, or the mean."""
        return self.sample(share) if draw else self.mean

    def divergence(self) -> Float[Tensor, " objects"]:
        """Kullback-Leibler divergence of each object's distribution from N(0, I)."""
        terms = self.mean.square() + self.log_variance.exp() - 1 - self.log_variance
        return 0.5 * terms.sum(-1)


class Posterior(nn.Module):
    """q(z(0) | summary) = N(psi_m, psi_v), two feed-forward networks of one summary per object."""

    def __init__(
        self, inputs: int, hidden: int, latent: int, initial_log_variance: float = NARROW
    ) -> None:
        super().__init__()
        self.mean = FeedForward(inputs, hidden, latent)
        self.log_variance = FeedForward(inputs, hidden, latent)
        nn.init.constant_(self.log_variance.second.bias, initial_log_variance)

    def forward(self, summary: Float[Tensor, "objects inputs"]) -> DiagonalNormal:
        """The distribution of each object's initial state."""
        return DiagonalNormal(self.mean(summary), self.log_variance(summary))
