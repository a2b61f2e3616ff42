"""LSTM and GRU: recurrent networks from sequence to sequence, each object on its own.

One network reads the condition of an object. A second one starts from its hidden state and from
the last observation, is fed its own output, and changes the state frame by frame:

    h_0 = encoder(condition),    h_{t+1} = cells(x_t, h_t),    x_{t+1} = x_t + W h_{t+1}

The cells of an LSTM carry a memory c from frame to frame by gates i, f, o and a candidate g of
[x_t, h_t]; those of a GRU mix the hidden state with a candidate n by a gate u:

    LSTM:  c_{t+1} = f_t c_t + i_t g_t,    h_{t+1} = o_t tanh(c_{t+1})
    GRU:   h_{t+1} = (1 - u_t) n_t + u_t h_t

Sepp Hochreiter and Jürgen Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997.

Kyunghyun Cho, Bart van Merriënboer, Caglar Gulcehre, Dzmitry Bahdanau, Fethi Bougares, Holger
Schwenk and Yoshua Bengio, "Learning Phrase Representations using RNN Encoder-Decoder for
Statistical Machine Translation", EMNLP 2014.

Simplified: objects exchange no information, so interactions show only in an object's own history.
The networks have 128 hidden units; published comparisons have 200 or more. Masks and gaps in time
are inputs of the encoder. The decoder takes steps of one frame, with linear interpolation between
frames. Constants and known inputs are inputs of both.
"""

from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.nn.exogenous import NOTHING, Exogenous, beside
from pgode.nn.frames import between_frames, frames_until, last_observed
from pgode.nn.initialisation import scaled
from pgode.nn.recurrent import Kind, RecurrentEncoder
from pgode.runtime.limits.bounds import LAYERS, WIDTH

INITIAL_SCALE = 0.1
"""The last layer starts this much smaller, so that an untrained rollout stays near its start."""


class RecurrentConfig(ModelConfig):
    """Sizes of a recurrent encoder and decoder."""

    width: int = Field(128, ge=1, le=WIDTH, description="hidden units per layer")
    layers: int = Field(
        1, ge=1, le=LAYERS, description="recurrent layers of encoder and of decoder"
    )


class RecurrentForecaster(Forecaster):
    """A recurrent encoder and a recurrent decoder for every object, with cells of one `kind`."""

    kind: ClassVar[Kind]
    config: RecurrentConfig
    config_type = RecurrentConfig
    known_inputs = "ahead"

    def __init__(self, config: RecurrentConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.rollout = RecurrentRollout(
            *(len(normaliser.features), config.width),
            kind=self.kind,
            layers=config.layers,
            exogenous=Exogenous.of(normaliser),
        )

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Roll out to the last requested time; nothing is random, so all samples are the mean."""
        start, _ = last_observed(batch)
        rollout = self.rollout(batch, start, frames_until(times))
        mean = between_frames(rollout, times, batch)
        return Forecast(mean, mean.expand(samples, *mean.shape))


class LSTM(RecurrentForecaster):
    """Long short-term memory."""

    kind = "lstm"


class GRU(RecurrentForecaster):
    """Gated recurrent units."""

    kind = "gru"


class RecurrentRollout(nn.Module):
    """The module's first equation.

    The decoder is fed its own output in training too, so that training and forecasting agree.
    Encoder and decoder do not share weights: only the encoder sees masks and gaps in time.
    """

    def __init__(
        self,
        features: int,
        width: int,
        *,
        kind: Kind,
        layers: int = 1,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.exogenous = exogenous
        self.encoder = RecurrentEncoder(
            features, width, kind=kind, layers=layers, backwards=False, exogenous=exogenous
        )
        cells = nn.LSTM if kind == "lstm" else nn.GRU
        self.decoder = cells(features + exogenous.width, width, layers, batch_first=True)
        self.change = scaled(nn.Linear(width, features), INITIAL_SCALE)

    def forward(
        self, batch: Batch, start: Float[Tensor, "objects features"], frames: int
    ) -> Float[Tensor, "objects frames+1 features"]:
        """The states at times 0, 1, ..., `frames`; the first of them is `start`."""
        _, state = self.encoder.summary_and_state(batch)
        rollout = [start.unsqueeze(1)]
        for given in self.exogenous.ahead(batch, frames).unbind(1):
            hidden, state = self.decoder(beside(rollout[-1], given.unsqueeze(1)), state)
            rollout.append(rollout[-1] + self.change(hidden))
        return torch.cat(rollout, dim=1)
