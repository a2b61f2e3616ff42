"""Recurrent summary of each object's own observations."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.nn.exogenous import NOTHING, Exogenous

Kind = Literal["gru", "lstm"]


class RecurrentEncoder(nn.Module):
    """A GRU or LSTM over an object's condition frames; the state after the last one is its summary.

    The inputs of each frame are the values (0 where not observed), whether each was observed, and
    the time until the next frame, so that gaps and uneven times are inputs too; then constants and
    known inputs. `backwards` reads from the last frame to the first, as latent ODEs do.
    """

    def __init__(
        self,
        features: int,
        width: int,
        *,
        kind: Kind = "gru",
        layers: int = 1,
        backwards: bool,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.backwards, self.exogenous = backwards, exogenous
        cell = nn.LSTM if kind == "lstm" else nn.GRU
        self.cells = cell(2 * features + 1 + exogenous.width, width, layers, batch_first=True)

    def forward(self, batch: Batch) -> Float[Tensor, "objects width"]:
        """The top layer's last hidden state."""
        summary, _ = self.summary_and_state(batch)
        return summary

    def summary_and_state(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "objects width"], Tensor | tuple[Tensor, Tensor]]:
        """The same, with the state of all layers, from which a decoder can continue."""
        known = batch.observed.to(batch.states.dtype)
        gaps = nn.functional.pad(batch.times.diff(dim=1), (0, 1))[batch.system].unsqueeze(2)
        seen = self.exogenous.past(batch)
        inputs = torch.cat([batch.states * known, known, gaps, seen], dim=-1)
        outputs, state = self.cells(inputs.flip(1) if self.backwards else inputs)
        return outputs[:, -1], state
