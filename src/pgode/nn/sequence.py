"""Recurrent network from a sequence of observations to a sequence of future frames."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.nn.recurrent import Kind, RecurrentEncoder

SMALL = 0.1
"""The last map starts this much smaller, so that an untrained rollout stays near its start."""


class RecurrentRollout(nn.Module):
    """An encoder reads each object's condition, a decoder goes on from its state, frame by frame.

        h_0     = encoder(condition),         x_0     = the state at the end of the condition
        h_{t+1} = cells(x_t, h_t),            x_{t+1} = x_t + W h_{t+1}

    The decoder is fed its own output in training too, so what it learns from is what it will do.
    Encoder and decoder have weights of their own: only the first sees masks and gaps in time.
    """

    def __init__(self, features: int, width: int, *, kind: Kind, layers: int = 1) -> None:
        super().__init__()
        self.encoder = RecurrentEncoder(features, width, kind=kind, layers=layers, backwards=False)
        cells = nn.LSTM if kind == "lstm" else nn.GRU
        self.decoder = cells(features, width, layers, batch_first=True)
        self.change = nn.Linear(width, features)
        with torch.no_grad():
            for parameter in self.change.parameters():
                parameter.mul_(SMALL)

    def forward(
        self, batch: Batch, start: Float[Tensor, "objects features"], frames: int
    ) -> Float[Tensor, "objects frames+1 features"]:
        """The states at times 0, 1, ..., `frames`; the first of them is `start`."""
        _, state = self.encoder.summary_and_state(batch)
        rollout = [start.unsqueeze(1)]
        for _ in range(frames):
            hidden, state = self.decoder(rollout[-1], state)
            rollout.append(rollout[-1] + self.change(hidden))
        return torch.cat(rollout, dim=1)
