"""Attention among the tokens of a system that treats tokens of the same object differently."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


@dataclass(frozen=True)
class Memory:
    """Keys and values of tokens, with separate keys for queries of their own object.

    Tokens that are `hidden` cannot be attended to; a single frame in it stands for all frames.
    """

    own_key: Float[Tensor, "systems heads members frames size"]
    key: Float[Tensor, "systems heads members frames size"]
    value: Float[Tensor, "systems heads members frames size"]
    hidden: Bool[Tensor, "systems members #frames"] | None

    def with_later(self, later: "Memory") -> "Memory":
        """This memory with the tokens of later frames appended."""
        return Memory(
            torch.cat([self.own_key, later.own_key], dim=3),
            torch.cat([self.key, later.key], dim=3),
            torch.cat([self.value, later.value], dim=3),
            later.hidden,
        )


class AgentAwareAttention(nn.Module):
    """Attention over all tokens of a system, with separate projections within an object."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.queries = nn.Linear(width, 2 * width)
        self.offers = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def memory(
        self,
        tokens: Float[Tensor, "systems members frames width"],
        hidden: Bool[Tensor, "systems members #frames"] | None,
    ) -> Memory:
        """The keys and values of tokens."""
        own_key, key, value = self._by_head(self.offers(tokens))
        return Memory(own_key, key, value, hidden)

    def forward(
        self, tokens: Float[Tensor, "systems members frames width"], memory: Memory
    ) -> Float[Tensor, "systems members frames width"]:
        """Attention of each token to a memory."""
        own_query, query = self._by_head(self.queries(tokens) / self.size**0.5)
        systems, heads, members, frames, _ = query.shape
        to_all = query.flatten(2, 3) @ memory.key.flatten(2, 3).transpose(2, 3)
        scores = to_all.view(systems, heads, members, frames, members, -1)
        to_own = _products(own_query, memory.own_key)
        scores.diagonal(dim1=2, dim2=4).copy_(to_own.permute(0, 1, 3, 4, 2))
        if memory.hidden is not None:
            hidden = memory.hidden[:, None, None, None]
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores.view_as(to_all), dim=-1)
        read = (weights @ memory.value.flatten(2, 3)).transpose(1, 2)
        out: Tensor = self.out(read.reshape(tokens.shape))
        return out

    def _by_head(
        self, x: Float[Tensor, "systems members frames channels"]
    ) -> tuple[Float[Tensor, "systems heads members frames size"], ...]:
        """The vectors concatenated in the channels, each split into heads."""
        parts = x.view(*x.shape[:3], -1, self.heads, self.size).permute(3, 0, 4, 1, 2, 5)
        return tuple(parts.contiguous().unbind(0))


def _products(
    query: Float[Tensor, "systems heads members asking size"],
    key: Float[Tensor, "systems heads members frames size"],
) -> Float[Tensor, "systems heads members asking frames"]:
    """Scalar products of each object's queries with its own keys.

    With one query per object the gradient of a batched matrix product is slow, hence the sum.
    """
    if query.shape[3] == 1:
        return (query * key).sum(-1).unsqueeze(3)
    return query @ key.transpose(3, 4)
