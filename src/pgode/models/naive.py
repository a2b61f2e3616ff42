"""Forecasts that learn nothing: what every table must be read against."""

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
    """There is nothing to set."""


class LastValue(Forecaster):
    """Every feature keeps its last observed value."""

    config_type = NaiveConfig
    trainable: ClassVar[bool] = False

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Repeat the last value at every time."""
        value, _ = last_observed(batch)
        mean = value.unsqueeze(1).expand(-1, times.shape[1], -1)
        return Forecast(mean, mean.expand(samples, *mean.shape))


class MeanValue(LastValue):
    """Every feature is what it was on average over the condition.

    Where objects jitter about a place, as atoms do, no single frame is as good a guess.
    """

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Repeat the mean of the observed values at every time."""
        seen = batch.observed.to(batch.states.dtype)
        value = (batch.states * seen).sum(1) / seen.sum(1).clamp(min=1)
        mean = value.unsqueeze(1).expand(-1, times.shape[1], -1)
        return Forecast(mean, mean.expand(samples, *mean.shape))


class ConstantVelocity(LastValue):
    """Positions move on with the last velocity; everything else keeps its last value.

    Where the data name no velocities, a position moves on with the difference of its last two
    observations.
    """

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.positions, self.velocities = normaliser.positions, normaliser.velocities
        gain, offset = normaliser.drift() if self.velocities else ([], [])
        self.gain, self.offset = torch.tensor(gain), torch.tensor(offset)

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Extrapolate positions from the time each was last seen."""
        value, when = last_observed(batch)
        mean = value.unsqueeze(1).repeat(1, times.shape[1], 1)
        if self.velocities:
            rate = value[:, self.velocities] * self.gain.to(value) + self.offset.to(value)
        else:
            rate = self._differences(batch)
        ahead = times[batch.system].unsqueeze(2) - when[:, None, self.positions]
        mean[:, :, self.positions] += rate.unsqueeze(1) * ahead
        return Forecast(mean, mean.expand(samples, *mean.shape))

    def _differences(self, batch: Batch) -> Float[Tensor, "objects positions"]:
        """Slope between the last two observations of each position; 0 where there are not two."""
        last, last_time = last_observed(batch)
        times = batch.times[batch.system].unsqueeze(2)
        earlier = batch.observed & (times < last_time.unsqueeze(1))
        before, before_time = last_observed(replace(batch, observed=earlier))
        span = last_time - before_time
        slope = torch.where(earlier.any(1) & (span > 0), (last - before) / span, 0)
        return slope[:, self.positions]
