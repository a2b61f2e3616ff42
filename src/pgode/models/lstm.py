"""LSTM: each object on its own, by a long short-term memory from sequence to sequence.

The memory c is carried from frame to frame by gates, and the change of the state is read off it:

    c_{t+1} = f_t c_t + i_t g_t,    h_{t+1} = o_t tanh(c_{t+1}),    x_{t+1} = x_t + W h_{t+1}

with the gates i, f, o and the candidate g computed from [x_t, h_t]. One LSTM reads the condition,
a second one starts from its memory and from the last observation, and is fed its own output.

Sepp Hochreiter and Jürgen Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.

Simplified: nothing passes between objects, so interactions show only in an object's own history.
128 hidden units, where the published comparisons have 200 or more. Masks and gaps in time are
inputs of the encoder. The decoder takes steps of one frame; times between frames lie on straight
lines.
"""

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from pgode.models.forecaster import (
    Forecast,
    Forecaster,
    Losses,
    ModelConfig,
    last_observed,
    squared_error,
)
from pgode.nn.frames import between_frames, frames_until
from pgode.nn.sequence import RecurrentRollout
from pgode.normaliser import Normaliser
from pgode.windows import Batch


class LSTMConfig(ModelConfig):
    """Sizes of encoder and decoder."""

    width: int = Field(128, ge=1, description="hidden units per layer")
    layers: int = Field(1, ge=1, description="recurrent layers of encoder and of decoder")


class LSTM(Forecaster):
    """An LSTM encoder and an LSTM decoder for every object, without interaction."""

    config: LSTMConfig
    config_type = LSTMConfig

    def __init__(self, config: LSTMConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.rollout = RecurrentRollout(
            len(normaliser.features), config.width, kind="lstm", layers=config.layers
        )

    def loss(self, batch: Batch) -> Losses:
        """The squared error of the rollout."""
        error = squared_error(batch, self.forecast(batch, batch.target_times).mean)
        return Losses(error, {"mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Roll out to the last time asked for; nothing is random, so all samples are the mean."""
        start, _ = last_observed(batch)
        rollout = self.rollout(batch, start, frames_until(times))
        mean = between_frames(rollout, times, batch)
        return Forecast(mean, mean.expand(samples, *mean.shape))
