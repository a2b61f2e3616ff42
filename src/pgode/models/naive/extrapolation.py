"""Untrained baselines that keep or continue the last observations."""

from dataclasses import replace
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.nn.frames import last_observed


class NaiveConfig(ModelConfig):
    """These models have no settings."""


class Naive(Forecaster):
    """A forecaster without parameters, given by `extrapolate`."""

    config_type: ClassVar[type[ModelConfig]] = NaiveConfig
    trainable: ClassVar[bool] = False

    @classmethod
    def suits(cls, normaliser: Normaliser, condition: int) -> bool:
        """Whether the model differs from "last value" on such data, so that it is worth a row."""
        return True

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """The extrapolation; nothing is random, so all samples are the mean."""
        mean = self.extrapolate(batch, times)
        return Forecast(mean, mean.expand(samples, *mean.shape))

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The features at `times`."""
        raise TypeError(f"{type(self).__name__} does not define extrapolate")


class LastValue(Naive):
    """Every feature keeps its last observed value."""

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The last value at every time."""
        value, _ = last_observed(batch)
        return value.unsqueeze(1).expand(-1, times.shape[1], -1)


class MeanValue(Naive):
    """Every feature has its mean over the condition.

    For objects that fluctuate about a fixed position, as atoms do, the mean is a better forecast
    than any single frame.
    """

    @classmethod
    def suits(cls, normaliser: Normaliser, condition: int) -> bool:
        """The mean of one frame is that frame."""
        return condition > 1

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The mean of the observed values at every time."""
        seen = batch.observed.to(batch.states.dtype)
        value = (batch.states * seen).sum(1) / seen.sum(1).clamp(min=1)
        return value.unsqueeze(1).expand(-1, times.shape[1], -1)


class ConstantVelocity(Naive):
    """Positions move with the last velocity; everything else keeps its last value.

    If the data have no named velocities, a position moves with the slope between its last two
    observations.
    """

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.positions, self.velocities = normaliser.positions, normaliser.velocities
        gain, offset = normaliser.drift() if self.velocities else ([], [])
        self.gain, self.offset = torch.tensor(gain), torch.tensor(offset)

    @classmethod
    def suits(cls, normaliser: Normaliser, condition: int) -> bool:
        """Needs positions, and velocities or two observations of them."""
        return bool(normaliser.positions) and (bool(normaliser.velocities) or condition > 1)

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """Move each position from the time of its last observation."""
        value, when = last_observed(batch)
        mean = value.unsqueeze(1).repeat(1, times.shape[1], 1)
        if self.velocities:
            rate = value[:, self.velocities] * self.gain.to(value) + self.offset.to(value)
        else:
            rate = self._slope(batch)
        elapsed = times[batch.system].unsqueeze(2) - when[:, None, self.positions]
        mean[:, :, self.positions] += rate.unsqueeze(1) * elapsed
        return mean

    def _slope(self, batch: Batch) -> Float[Tensor, "objects positions"]:
        """Slope between the last two observations of each position; 0 if there are fewer."""
        last, last_time = last_observed(batch)
        times = batch.times[batch.system].unsqueeze(2)
        earlier = batch.observed & (times < last_time.unsqueeze(1))
        before, before_time = last_observed(replace(batch, observed=earlier))
        span = last_time - before_time
        slope = torch.where(earlier.any(1) & (span > 0), (last - before) / span, 0)
        return slope[:, self.positions]
