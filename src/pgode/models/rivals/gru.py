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

from pgode.models.recurrent import RecurrentConfig, RecurrentForecaster


class GRUConfig(RecurrentConfig):
    """Sizes of encoder and decoder."""


class GRU(RecurrentForecaster):
    """A GRU encoder and a GRU decoder for every object, without interaction."""

    kind = "gru"
    config_type = GRUConfig
