"""Tokens, and the layers of agent-aware attention that encode and decode them."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from pgode.models.rivals.agentformer.attention import AgentAwareAttention, Memory
from pgode.nn.feedforward import FeedForward
from pgode.nn.time_embedding import time_embedding


class Tokens(nn.Module):
    """A linear map of [inputs of an object at a time, embedding of that time]."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.inputs = nn.Linear(inputs, width)
        self.time = nn.Linear(width, width, bias=False)

    def forward(
        self,
        inputs: Float[Tensor, "systems members frames inputs"],
        times: Float[Tensor, "#systems #members frames"],
    ) -> Float[Tensor, "systems members frames width"]:
        """One token per object and frame."""
        embedded = time_embedding(times.flatten(), self.width).view(*times.shape, self.width)
        tokens: Tensor = self.inputs(inputs) + self.time(embedded)
        return tokens


class Layer(nn.Module):
    """Attention among the tokens, perhaps attention to a context, and a feed-forward network.

    Each is a residual block with a layer norm before it.
    """

    def __init__(self, width: int, heads: int, *, crosses: bool) -> None:
        super().__init__()
        self.among = AgentAwareAttention(width, heads)
        self.across = AgentAwareAttention(width, heads) if crosses else None
        self.feed = FeedForward(width, 2 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if crosses else 2))

    def forward(
        self,
        tokens: Float[Tensor, "systems members frames width"],
        hidden: Bool[Tensor, "systems members #frames"] | None,
        past: Memory | None,
        context: Memory | None,
    ) -> tuple[Float[Tensor, "systems members frames width"], Memory]:
        """The updated tokens, and the memory of these and of past tokens."""
        x = self.norms[0](tokens)
        memory = self.among.memory(x, hidden)
        memory = memory if past is None else past.with_later(memory)
        tokens = tokens + self.among(x, memory)
        if self.across is not None and context is not None:
            tokens = tokens + self.across(self.norms[1](tokens), context)
        return tokens + self.feed(self.norms[-1](tokens)), memory


class Transformer(nn.Module):
    """Layers of agent-aware attention: an encoder or, given a past, a decoder."""

    def __init__(self, layers: int, width: int, heads: int, *, crosses: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads, crosses=crosses) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def memories(
        self,
        context: Float[Tensor, "systems members frames width"],
        hidden: Bool[Tensor, "systems members #frames"] | None,
    ) -> list[Memory]:
        """Keys and values of the context, for each layer."""
        return [
            layer.across.memory(context, hidden)
            for layer in self.layers
            if isinstance(layer, Layer) and layer.across is not None
        ]

    def forward(
        self,
        tokens: Float[Tensor, "systems members frames width"],
        hidden: Bool[Tensor, "systems members #frames"] | None,
        past: list[Memory] | None = None,
        context: list[Memory] | None = None,
    ) -> tuple[Float[Tensor, "systems members frames width"], list[Memory]]:
        """The tokens after attention to each other, the past and the context; and the new past."""
        memories = []
        for number, layer in enumerate(self.layers):
            tokens, memory = layer(
                tokens,
                hidden,
                past[number] if past else None,
                context[number] if context else None,
            )
            memories.append(memory)
        return self.norm(tokens), memories
