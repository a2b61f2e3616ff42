"""The interface of a model: mainly `loss(batch)` and `forecast(batch, times, samples)`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.devices import has_doubles
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.models.flow import Flow
from pgode.runtime.settings import Settings

Progress = Callable[[str, float], None]
"""Told what is being done, and which share of all is done."""

KnownInputs = Literal["none", "past", "ahead"]
"""What a model uses beyond states, see `Forecaster`."""


class ModelConfig(Settings):
    """Settings of one model."""

    def settled(self, training: Windows, seed: int) -> tuple["ModelConfig", str]:
        """The settings with what the training data decide, and the reason in a sentence."""
        return self, ""


@dataclass(frozen=True)
class Losses:
    """The total to minimise, and its named terms (for the log)."""

    total: Float[Tensor, ""]
    terms: dict[str, Float[Tensor, ""]]


@dataclass(frozen=True)
class Forecast:
    """A forecast in scaled units, with the contexts that the model inferred.

    `contexts` holds named arrays with one row per object (gate weights, context vectors), or per
    system where the name starts with "system"; reports show them.
    """

    mean: Float[Tensor, "objects outputs features"]
    samples: Float[Tensor, "samples objects outputs features"]
    contexts: dict[str, Tensor] = field(default_factory=dict)
    evaluations: int = 0

    def cpu(self) -> "Forecast":
        """The same on the CPU, where its numbers can be read."""
        contexts = {name: each.cpu() for name, each in self.contexts.items()}
        return Forecast(self.mean.cpu(), self.samples.cpu(), contexts, self.evaluations)


class Forecaster(nn.Module):
    """Base of every model. Training, evaluation and reports use only this interface.

    `trainable` is False for models without anything to fit. A model with an adversary names its
    parameters in `adversary`; a separate optimiser ascends the same loss in them.

    `known_inputs` says what a forecast depends on beyond states: "ahead" for constants of objects
    and inputs up to the times of the forecast, "past" for constants and inputs of the condition,
    "none" for neither.
    """

    trainable: ClassVar[bool] = True
    known_inputs: ClassVar[KnownInputs] = "none"
    config_type: ClassVar[type[ModelConfig]] = ModelConfig
    needs_doubles: ClassVar[bool] = False
    """Whether nearly all of it is computed in double precision, which not every device has."""

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__()
        self.config, self.normaliser = config, normaliser
        # Follows the model from device to device, also where it has no parameters.
        self.register_buffer("_here", torch.empty(0), persistent=False)

    @property
    def device(self) -> torch.device:
        """Where the model is, and where its batches have to be."""
        return self.get_buffer("_here").device

    def on(self, device: torch.device) -> "Forecaster":
        """The model, moved there; to the CPU if the device lacks a precision that it needs."""
        fits = has_doubles(device) or not self.needs_doubles
        return self.to(device if fits else torch.device("cpu"))

    @classmethod
    def build(cls, config: ModelConfig, normaliser: Normaliser) -> "Forecaster":
        """A model with fresh weights; a config may ask for another class than registered."""
        return cls(config, normaliser)

    def prepare(self, training: Windows, seed: int, progress: Progress) -> bool:
        """Find in the training data what takes no gradients; False if there is nothing to find."""
        return False

    def findings(self) -> tuple[str, ...]:
        """What `prepare` found, in sentences."""
        return ()

    def loss(self, batch: Batch) -> Losses:
        """The training objective on a batch and its targets: here the squared error."""
        error = squared_error(batch, self.forecast(batch, batch.target_times).mean)
        return Losses(error, {"mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast at `times` (frames after the condition, one row per system)."""
        raise TypeError(f"{type(self).__name__} does not define forecast")

    def mean_forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The mean of `forecast` alone, for models that need not do all else to have it."""
        return self.forecast(batch, times).mean

    def adversary(self) -> Iterable[nn.Parameter]:
        """Parameters that ascend the loss while all others descend it."""
        return ()

    def encoders(self) -> Mapping[str, nn.Module]:
        """Parts that infer contexts, by name: the log has the gradients of each term on them."""
        return {}

    @property
    def prototypes(self) -> int | None:
        """K, the number of prototypes; None for a model without any."""
        return None

    def flow(self, batch: Batch) -> Flow | None:
        """The initial value problem behind the mean forecast; None for a model that solves none."""
        return None


def squared_error(
    batch: Batch, mean: Float[Tensor, "objects horizon features"]
) -> Float[Tensor, ""]:
    """Mean squared error over the observed targets; of a share, its part of the mean."""
    known = batch.targets_observed.to(mean.dtype)
    return ((mean - batch.targets).square() * known).sum() / batch.values.to(mean.dtype)
