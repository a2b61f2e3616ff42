"""Forecasts that repeat the last season of daily or hourly data."""

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.labels.calendar import SECONDS
from pgode.models.forecaster import ModelConfig
from pgode.models.naive.extrapolation import Naive
from pgode.nn.frames import last_observed
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES

SEASONS = ((86400.0, 7), (3600.0, 24))
"""Seconds of a frame, and the frames of its season: a week of days, a day of hours."""
NEAR = 0.01
"""Relative difference between the time step and a day or an hour."""


def season_of(normaliser: Normaliser) -> int | None:
    """Frames of a season: 7 for daily data, 24 for hourly data, None for any other."""
    unit = normaliser.time_units.rstrip("s") + "s"
    seconds = normaliser.frame_duration * SECONDS.get(unit, 0.0)
    fitting = (n for step, n in SEASONS if abs(seconds - step) <= NEAR * step)
    return next(fitting, None)


class SeasonalConfig(ModelConfig):
    """The length of a season."""

    period: int | None = Field(
        default=None,
        ge=2,
        le=FRAMES,
        description="frames of a season; 7 for daily data, 24 for hourly data",
    )

    def settled(self, training: Windows, seed: int) -> tuple[ModelConfig, str]:
        """With the season of the data's time step; an error if that has none."""
        period = self.period or season_of(training.normaliser)
        if period is None or period > training.condition:
            found = "no season" if period is None else f"a season of {period} frames"
            raise InputError(
                f"the data have {found}, and the condition has {training.condition} frames. "
                f"Expected daily or hourly data, or a length from --set model.period=..., and a "
                f"condition of at least one season. Give time units (days, hours), or set "
                f"window.condition higher."
            )
        return self.model_copy(update={"period": period}), ""


class Seasonal(Naive):
    """Every feature has the value of one season before, as last observed at that phase.

    Where no season fits, or the condition is shorter than one, it is "last value".
    """

    config_type: ClassVar[type[ModelConfig]] = SeasonalConfig

    def __init__(self, config: ModelConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        assert isinstance(config, SeasonalConfig)
        self.period = config.period or season_of(normaliser)

    @classmethod
    def suits(cls, normaliser: Normaliser, condition: int) -> bool:
        """The time step has a season, and the condition holds one."""
        period = season_of(normaliser)
        return period is not None and condition >= period

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The frame of the last season at the phase of each time."""
        last, _ = last_observed(batch)
        last = last.unsqueeze(1).expand(-1, times.shape[1], -1)
        if self.period is None or batch.states.shape[1] < self.period:
            return last
        season, seen = batch.states[:, -self.period :], batch.observed[:, -self.period :]
        phase = (torch.ceil(times - 1e-4).long() - 1).clamp(min=0) % self.period
        place = phase[batch.system].unsqueeze(2).expand(-1, -1, season.shape[2])
        return torch.where(seen.gather(1, place), season.gather(1, place), last)


class SeasonalRate(Seasonal):
    """Every feature is its mean over the last season: of daily counts, the last 7-day rate.

    The mean is taken in the data's own units, so that it is a rate under any transform.
    """

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """The mean of the observed values of the last season at every time."""
        last, _ = last_observed(batch)
        if self.period is None or batch.states.shape[1] < self.period:
            return last.unsqueeze(1).expand(-1, times.shape[1], -1)
        season = batch.states[:, -self.period :].cpu().double().numpy()
        seen = batch.observed[:, -self.period :].cpu().numpy()
        raw = np.where(seen, self.normaliser.raw(np.where(seen, season, 0.0)), 0.0)
        mean = raw.sum(1) / np.maximum(seen.sum(1), 1)
        scaled = torch.from_numpy(self.normaliser.states(mean)).to(last)
        value = torch.where(torch.from_numpy(seen.any(1)).to(last.device), scaled, last)
        return value.unsqueeze(1).expand(-1, times.shape[1], -1)
