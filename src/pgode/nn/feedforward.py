"""Feed-forward networks (the paper's FFNs)."""

from jaxtyping import Float
from torch import Tensor, nn


class FeedForward(nn.Module):
    """Two linear maps with a smooth activation between them."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, outputs)

    def forward(self, x: Float[Tensor, "*batch inputs"]) -> Float[Tensor, "*batch outputs"]:
        """Apply to the last axis."""
        out: Tensor = self.second(nn.functional.silu(self.first(x)))
        return out
