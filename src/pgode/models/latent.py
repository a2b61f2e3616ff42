"""Models that draw an initial state from a posterior: the evidence lower bound, and the draws."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, Losses, ModelConfig, squared_error
from pgode.nn.gaussian import DiagonalNormal
from pgode.runtime.limits.bounds import LARGE, SMALL
from pgode.runtime.settings import Settings


class Elbo(Settings):
    """The evidence lower bound of Eq. 15: likelihood, prior, and how z(0) is drawn."""

    sample: bool = Field(True, description="draw z(0) from the posterior in training")
    sigma: float = Field(
        0.001, ge=SMALL, le=LARGE, description="deviation of the Gaussian likelihood"
    )
    kl_weight: float = Field(
        1.0, ge=0, le=LARGE, description="weight of the divergence from the prior"
    )

    @property
    def unit(self) -> float:
        """2 sigma^2, the factor on the bound, see `variational_losses`."""
        return 2 * self.sigma**2


class LatentConfig(ModelConfig):
    """Settings of every model that starts from a latent state with a posterior."""

    renamed: ClassVar[Mapping[str, str]] = {
        "sample": "objective.sample",
        "sigma": "objective.sigma",
        "kl": "objective.kl_weight",
    }

    objective: Elbo = Elbo()


@dataclass(frozen=True)
class Encoded:
    """Inference of a latent model from a history: the posterior of z(0), and named contexts."""

    posterior: DiagonalNormal
    contexts: dict[str, Tensor] = field(default_factory=dict)


class LatentForecaster(Forecaster):
    """A model that draws an initial state from a posterior and solves for its later states.

    A model defines `encode` and `rollout`. It may add terms to the objective in `extra_losses` and
    report more contexts in `inferred`; the evidence lower bound and the draws of a forecast
    are the same for all.
    """

    config: LatentConfig

    def encode(self, batch: Batch) -> Encoded:
        """The posterior of each object's initial state."""
        raise TypeError(f"{type(self).__name__} does not define encode")

    def rollout(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Features at `times`, and how often a derivative was evaluated."""
        raise TypeError(f"{type(self).__name__} does not define rollout")

    def extra_losses(self, batch: Batch, encoded: Encoded) -> dict[str, Float[Tensor, ""]]:
        """Weighted terms of the objective in addition to the bound."""
        return {}

    def inferred(self, batch: Batch, encoded: Encoded) -> dict[str, Tensor]:
        """Contexts that a forecast reports, see `Forecast.contexts`."""
        return encoded.contexts

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value (see `variational_losses`) plus the extra terms."""
        encoded = self.encode(batch)
        start = encoded.posterior.start(self.config.objective.sample, batch.share)
        mean, _ = self.rollout(batch, encoded, start, batch.target_times)
        terms = variational_losses(batch, mean, encoded.posterior, self.config.objective)
        terms |= self.extra_losses(batch, encoded)
        total = torch.stack(list(terms.values())).sum()
        return Losses(total, {**terms, "mse": terms["reconstruction"]})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast from the posterior mean; each sample starts from a separate draw."""
        encoded = self.encode(batch)
        mean, evaluations = self.rollout(batch, encoded, encoded.posterior.mean, times)
        drawn = [
            self.rollout(batch, encoded, encoded.posterior.sample(), times)[0]
            for _ in range(samples)
        ]
        stacked = torch.stack(drawn) if drawn else mean.new_empty(0, *mean.shape)
        return Forecast(mean, stacked, self.inferred(batch, encoded), evaluations)


def variational_losses(
    batch: Batch,
    mean: Float[Tensor, "objects horizon features"],
    posterior: DiagonalNormal,
    objective: Elbo,
) -> dict[str, Float[Tensor, ""]]:
    """The two terms of a negative ELBO per observed value, times 2 sigma^2.

    The factor makes the reconstruction term the squared error itself: losses of different models
    then have one scale, and Adam is invariant to it.
    """
    weight = objective.unit * objective.kl_weight
    return {
        "reconstruction": squared_error(batch, mean),
        "kl": weight * posterior.divergence().sum() / batch.values,
    }
