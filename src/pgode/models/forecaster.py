"""The contract of a model: `loss(batch)` and `forecast(batch, times, samples)`, and no more."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.nn.frames import between_frames, frames_until
from pgode.nn.gaussian import DiagonalNormal
from pgode.nn.recurrent import Kind
from pgode.nn.sequence import RecurrentRollout
from pgode.ode import SolverConfig
from pgode.ode.settings import check_method
from pgode.runtime.settings import Settings


class ModelConfig(Settings):
    """Settings of one model."""

    @model_validator(mode="after")
    def _solver_is_known(self) -> "ModelConfig":
        """A wrong name is an error of the settings, before anything is trained with them."""
        solver = getattr(self, "solver", None)
        if isinstance(solver, SolverConfig):
            check_method(solver.method)
        return self


class LatentConfig(ModelConfig):
    """Settings of every model that starts from a latent state with a posterior."""

    sample: bool = Field(True, description="draw z(0) from the posterior in training")
    sigma: float = Field(0.001, gt=0, description="deviation of the Gaussian likelihood")
    kl: float = Field(1.0, ge=0, description="weight of the divergence from the prior")


@dataclass(frozen=True)
class Losses:
    """What is minimised, and the named terms it is made of (for the log)."""

    total: Float[Tensor, ""]
    terms: dict[str, Float[Tensor, ""]]


@dataclass(frozen=True)
class Forecast:
    """A forecast in scaled units, with what the model inferred on the way.

    `contexts` holds named arrays with one row per object (gate weights, context vectors), or per
    system where the name starts with "system": what a report shows.
    """

    mean: Float[Tensor, "objects outputs features"]
    samples: Float[Tensor, "samples objects outputs features"]
    contexts: dict[str, Tensor] = field(default_factory=dict)
    evaluations: int = 0


class Forecaster(nn.Module):
    """Base of every model. Training, evaluation and reports know only this.

    `trainable` is False for models without anything to fit. A model with an adversary names its
    parameters in `adversary`; they get an optimiser of their own that ascends the same loss.
    """

    trainable: ClassVar[bool] = True
    config_type: ClassVar[type[ModelConfig]] = ModelConfig
    presets: ClassVar[dict[str, dict[str, Any]]] = {"default": {}}

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.config, self.normaliser = config, normaliser

    def loss(self, batch: Batch) -> Losses:
        """The training objective on a batch and its targets: here the squared error."""
        error = squared_error(batch, self.forecast(batch, batch.target_times).mean)
        return Losses(error, {"mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast at `times` (frames after the condition, one row per system)."""
        raise TypeError(f"{type(self).__name__} does not define forecast")

    def adversary(self) -> Iterable[nn.Parameter]:
        """Parameters that ascend the loss while all others descend it."""
        return ()


class RecurrentConfig(ModelConfig):
    """Sizes of a recurrent encoder and decoder."""

    width: int = Field(128, ge=1, description="hidden units per layer")
    layers: int = Field(1, ge=1, description="recurrent layers of encoder and of decoder")


class RecurrentForecaster(Forecaster):
    """A recurrent encoder and a recurrent decoder for every object; `kind` says of which cells."""

    kind: ClassVar[Kind]
    config: RecurrentConfig

    def __init__(self, config: RecurrentConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.rollout = RecurrentRollout(
            len(normaliser.features), config.width, kind=self.kind, layers=config.layers
        )

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Roll out to the last time asked for; nothing is random, so all samples are the mean."""
        start, _ = last_observed(batch)
        rollout = self.rollout(batch, start, frames_until(times))
        mean = between_frames(rollout, times, batch)
        return Forecast(mean, mean.expand(samples, *mean.shape))


@dataclass(frozen=True)
class Encoded:
    """What a latent model makes of a history: where its objects start, and what else it found."""

    posterior: DiagonalNormal
    contexts: dict[str, Tensor] = field(default_factory=dict)


class LatentForecaster(Forecaster):
    """A model that draws an initial state from a posterior and follows it through time.

    It says how in `encode` and `follow`; the evidence lower bound and the draws of a forecast are
    the same for all of them.
    """

    config: LatentConfig

    def encode(self, batch: Batch) -> Encoded:
        """The posterior of each object's initial state."""
        raise TypeError(f"{type(self).__name__} does not define encode")

    def follow(
        self,
        batch: Batch,
        encoded: Encoded,
        initial: Float[Tensor, "objects latent"],
        times: Float[Tensor, "systems outputs"],
    ) -> tuple[Float[Tensor, "objects outputs features"], int]:
        """Features at `times`, and how often a derivative was evaluated."""
        raise TypeError(f"{type(self).__name__} does not define follow")

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value, see `variational_losses`."""
        encoded = self.encode(batch)
        start = encoded.posterior.start(self.config.sample)
        mean, _ = self.follow(batch, encoded, start, batch.target_times)
        terms = variational_losses(batch, mean, encoded.posterior, self.config)
        total = torch.stack(list(terms.values())).sum()
        return Losses(total, {**terms, "mse": terms["reconstruction"]})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast from the posterior mean; each sample starts from a draw of its own."""
        encoded = self.encode(batch)
        mean, evaluations = self.follow(batch, encoded, encoded.posterior.mean, times)
        drawn = [
            self.follow(batch, encoded, encoded.posterior.sample(), times)[0]
            for _ in range(samples)
        ]
        stacked = torch.stack(drawn) if drawn else mean.new_empty(0, *mean.shape)
        return Forecast(mean, stacked, encoded.contexts, evaluations)


def variational_losses(
    batch: Batch,
    mean: Float[Tensor, "objects horizon features"],
    posterior: DiagonalNormal,
    config: LatentConfig,
) -> dict[str, Float[Tensor, ""]]:
    """The two terms of a negative ELBO per observed value, times 2 sigma^2.

    The factor makes the reconstruction term the squared error itself: losses of different models
    then have one scale, and Adam does not notice.
    """
    values = batch.targets_observed.sum().clamp(min=1)
    weight = 2 * config.sigma**2 * config.kl
    return {
        "reconstruction": squared_error(batch, mean),
        "kl": weight * posterior.divergence().sum() / values,
    }


def squared_error(
    batch: Batch, mean: Float[Tensor, "objects horizon features"]
) -> Float[Tensor, ""]:
    """Mean squared error over the observed targets."""
    known = batch.targets_observed.to(mean.dtype)
    return ((mean - batch.targets).square() * known).sum() / known.sum().clamp(min=1)


def last_observed(
    batch: Batch,
) -> tuple[Float[Tensor, "objects features"], Float[Tensor, "objects features"]]:
    """Each feature's last observed value, and its time (frames, at most 0); 0 if never seen."""
    frames = batch.states.shape[1]
    order = torch.arange(1, frames + 1, device=batch.states.device)
    place = (batch.observed * order[None, :, None]).amax(1)
    index = (place - 1).clamp(min=0)
    value = batch.states.gather(1, index.unsqueeze(1)).squeeze(1)
    when = batch.times[batch.system].gather(1, index)
    seen = place > 0
    return torch.where(seen, value, 0), torch.where(seen, when, 0)
