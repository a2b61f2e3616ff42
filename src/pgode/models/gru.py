"""GRU: each object on its own, by gated recurrent units from sequence to sequence.

The hidden state is mixed from its old value and a candidate, and the change of the state is read
off it:

    h_{t+1} = (1 - u_t) n_t + u_t h_t,    x_{t+1} = x_t + W h_{t+1}

with the gate u and the candidate n computed from [x_t, h_t]. One GRU reads the condition, a second
one starts from its hidden state and from the last observation, and is fed its own output.

Kyunghyun Cho, Bart van Merriënboer, Caglar Gulcehre, Dzmitry Bahdanau, Fethi Bougares, Holger
Schwenk and Yoshua Bengio, "Learning Phrase Representations using RNN Encoder-Decoder for
Statistical Machine Translation", EMNLP 2014.

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


class GRUConfig(ModelConfig):
    """Sizes of encoder and decoder."""

    width: int = Field(128, ge=1, description="hidden units per layer")
    layers: int = Field(1, ge=1, description="recurrent layers of encoder and of decoder")


class GRU(Forecaster):
    """A GRU encoder and a GRU decoder for every object, without interaction."""

    config: GRUConfig
    config_type = GRUConfig

    def __init__(self, config: GRUConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.rollout = RecurrentRollout(
            len(normaliser.features), config.width, kind="gru", layers=config.layers
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
