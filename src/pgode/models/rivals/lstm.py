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

from pgode.models.recurrent import RecurrentConfig, RecurrentForecaster


class LSTMConfig(RecurrentConfig):
    """Sizes of encoder and decoder."""


class LSTM(RecurrentForecaster):
    """An LSTM encoder and an LSTM decoder for every object, without interaction."""

    kind = "lstm"
    config_type = LSTMConfig
