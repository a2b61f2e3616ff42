"""Models with a recurrent encoder and a recurrent decoder for every object."""

from typing import ClassVar

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.nn.frames import between_frames, frames_until, last_observed
from pgode.nn.recurrent import Kind
from pgode.nn.sequence import RecurrentRollout


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
