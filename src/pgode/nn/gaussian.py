"""Diagonal normal distribution of an initial latent state (paper, Eq. 8)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class DiagonalNormal:
    """N(mean, exp(log_variance)) per object."""

    mean: Float[Tensor, "objects width"]
    log_variance: Float[Tensor, "objects width"]

    def sample(self) -> Float[Tensor, "objects width"]:
        """One draw, differentiable in mean and variance."""
        return self.mean + torch.exp(0.5 * self.log_variance) * torch.randn_like(self.mean)

    def divergence(self) -> Float[Tensor, " objects"]:
        """Kullback-Leibler divergence of each object's distribution from N(0, I)."""
        terms = self.mean.square() + self.log_variance.exp() - 1 - self.log_variance
        return 0.5 * terms.sum(-1)
