"""AgentFormer: one transformer over the tokens of all objects at all frames, with latent intents.

A token is an object i at a frame t. It attends to all tokens (j, s) of its system at once, with
other projections for its own object than for the others:

    score(i t, j s) = Q_own h_it . K_own h_js      if i = j
                      Q_other h_it . K_other h_js  otherwise

    z_i ~ p(z | condition),    x_i(t + 1) = x_i(t) + decoder(x(0), ..., x(t), z, condition)

Y. Yuan, X. Weng, Y. Ou, K. Kitani: AgentFormer: Agent-Aware Transformers for Socio-Temporal
Multi-Agent Forecasting, ICCV 2021.

All objects of a system see each other: the graph of the data is not an input. All pairs of tokens
are scored, so cost and memory grow with the square of a system's objects.

Simplified: width 64, 4 heads and feed-forward layers of 128, where the original has 256, 8 and 512;
layer norms before the blocks, not after; no dropout. For the posterior, each object's summary of
the condition reads the targets by attention, where the original lets all target tokens attend to
each other and pools them. Training minimises the negative ELBO of the original's first stage:
neither its loss of the best of 20 samples nor the second stage, which trains a sampler of diverse
intents, is here. Gradients pass through the states that are fed back, where the original cuts them,
and a frame's change is added to the state before it, not to the last observation.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int, Shaped
from pydantic import Field, model_validator
from torch import Tensor, nn

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, Losses, squared_error
from pgode.models.latent import LatentConfig
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import between_frames, frames_until, whole_frames
from pgode.nn.gaussian import DiagonalNormal, Posterior
from pgode.nn.time_embedding import time_embedding

CHANGE_SCALE = 10.0
"""Changes per frame are small beside the states; this brings them to one size."""


class AgentFormerConfig(LatentConfig):
    """Settings of AgentFormer."""

    width: int = Field(64, ge=1, description="width of tokens; feed-forward layers have twice it")
    heads: int = Field(4, ge=1, description="attention heads")
    layers: int = Field(2, ge=1, description="layers of each encoder and of the decoder")
    latent: int = Field(32, ge=1, description="width of an object's latent intent z")
    sigma: float = Field(0.01, gt=0, description="deviation of the Gaussian likelihood")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "AgentFormerConfig":
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is no multiple of heads, {self.heads}")
        return self


class AgentFormer(Forecaster):
    """Agent-aware transformer with a conditional variational autoencoder."""

    config: AgentFormerConfig
    config_type = AgentFormerConfig

    def __init__(self, config: AgentFormerConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features, width, latent = len(normaliser.features), config.width, config.latent
        self.positions = normaliser.positions
        self.condition_tokens = Tokens(2 * features, width)
        self.encoder = Transformer(config.layers, width, config.heads, crosses=False)
        self.prior = Posterior(width, width, latent)
        self.target_tokens = Tokens(2 * features, width)
        self.target_encoder = Transformer(config.layers, width, config.heads, crosses=True)
        self.posterior = Posterior(width, width, latent)
        self.decoder_tokens = Tokens(2 * features + latent, width)
        self.decoder = Transformer(config.layers, width, config.heads, crosses=True)
        self.change = nn.Linear(width, features)
        # An untrained model then forecasts nearly the last state, not a random walk from it.
        nn.init.normal_(self.change.weight, std=1e-4)
        nn.init.zeros_(self.change.bias)

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value, times 2 sigma^2.

        The factor makes the reconstruction term the squared error itself.
        """
        config, frames = self.config, frames_until(batch.target_times)
        scene = Scene.of(batch, self.positions)
        context = self.encode(scene)
        prior = self.prior(scene.listed(context.mean(2)))
        posterior = self.posterior(self.encode_targets(batch, scene, context))
        rollout = self.decode(scene, context, posterior.start(config.objective.sample), frames)
        error = squared_error(batch, between_frames(rollout, batch.target_times, batch))
        values = batch.targets_observed.sum().clamp(min=1)
        weight = config.objective.unit * config.objective.kl_weight
        terms = {"reconstruction": error, "kl": weight * divergence(posterior, prior) / values}
        return Losses(terms["reconstruction"] + terms["kl"], {**terms, "mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast with the mean intents of the prior; each sample draws its own."""
        frames = frames_until(times)
        scene = Scene.of(batch, self.positions)
        context = self.encode(scene)
        prior = self.prior(scene.listed(context.mean(2)))
        intents = [prior.mean, *(prior.sample() for _ in range(samples))]
        forecasts = torch.stack(
            [between_frames(self.decode(scene, context, z, frames), times, batch) for z in intents]
        )
        return Forecast(forecasts[0], forecasts[1:], {"intent": prior.mean})

    def encode(self, scene: "Scene") -> Float[Tensor, "systems members condition width"]:
        """The tokens of the condition after they attended to each other."""
        states = scene.states
        times = torch.arange(1 - states.shape[2], 1, device=states.device, dtype=states.dtype)
        changes = CHANGE_SCALE * nn.functional.pad(states.diff(dim=2), (0, 0, 1, 0))
        tokens = self.condition_tokens(torch.cat([states, changes], dim=-1), times[None, None])
        encoded: Tensor = self.encoder(tokens, scene.absent)[0]
        return encoded

    def encode_targets(
        self,
        batch: Batch,
        scene: "Scene",
        context: Float[Tensor, "systems members condition width"],
    ) -> Float[Tensor, "objects width"]:
        """What the posterior is made of: each object's mean token, having read the targets."""
        observed = batch.targets_observed
        relative = torch.where(observed, batch.targets - scene.origin.unsqueeze(1), 0)
        inputs = scene.padded(torch.cat([relative, observed.to(relative.dtype)], dim=-1))
        tokens = self.target_tokens(inputs, batch.target_times.unsqueeze(1))
        seen = scene.padded(observed.any(-1))
        targets = self.target_encoder.memories(tokens, None if seen.all() else ~seen)
        summary = context.mean(2, keepdim=True)
        encoded, _ = self.target_encoder(summary, scene.absent, context=targets)
        return scene.listed(encoded.squeeze(2))

    def decode(
        self,
        scene: "Scene",
        context: Float[Tensor, "systems members condition width"],
        z: Float[Tensor, "objects latent"],
        frames: int,
    ) -> Float[Tensor, "objects frames+1 features"]:
        """Roll out frame by frame from the last state.

        A token sees no later ones, so what it says to them never changes: its keys and values are
        kept, and a frame costs no more than its own tokens.
        """
        intents = scene.padded(z).unsqueeze(2)
        before, state = scene.states[:, :, -2:][:, :, :1], scene.states[:, :, -1:]
        condition = self.decoder.memories(context, scene.absent)
        past: list[Memory] = []
        rollout = [state]
        for frame in range(frames):
            seen = torch.cat([state, CHANGE_SCALE * (state - before), intents], dim=-1)
            tokens = self.decoder_tokens(seen, state.new_full((1, 1, 1), frame))
            decoded, past = self.decoder(tokens, scene.absent, past, condition)
            before, state = state, state + self.change(decoded)
            rollout.append(state)
        return scene.listed(torch.cat(rollout, dim=2)) + scene.origin.unsqueeze(1)


@dataclass(frozen=True)
class Scene:
    """The condition as a padded block of systems, positions relative to each system's middle.

    The middle is the mean last position of the objects that were seen; one that never was is put
    there. `slot` is each object's row in the flattened block.
    """

    relative: Float[Tensor, "objects condition features"]
    origin: Float[Tensor, "objects features"]
    present: Bool[Tensor, "systems members"]
    slot: Int[Tensor, " objects"]

    @classmethod
    def of(cls, batch: Batch, positions: list[int]) -> "Scene":
        """The condition of a batch, in whole frames."""
        states, system = whole_frames(batch, batch.states.shape[1]), batch.system
        counts = torch.bincount(system, minlength=batch.systems)
        number = torch.arange(batch.objects, device=system.device)
        member = torch.arange(int(counts.max()), device=system.device)
        slot = system * len(member) + number - (counts.cumsum(0) - counts)[system]
        position = torch.zeros_like(states[0, 0], dtype=torch.bool)
        position[positions] = True
        seen = batch.observed.any(1) & position
        none = states.new_zeros(batch.systems, states.shape[2])
        total = none.index_add(0, system, torch.where(seen, states[:, -1], 0))
        middle = total / none.index_add(0, system, seen.to(states.dtype)).clamp(min=1)
        origin = middle[system]
        relative = torch.where((seen | ~position).unsqueeze(1), states - origin.unsqueeze(1), 0)
        return cls(relative, origin, member < counts.unsqueeze(1), slot)

    def padded(
        self, values: Shaped[Tensor, "objects ..."]
    ) -> Shaped[Tensor, "systems members ..."]:
        """Values of objects, put into the block; 0 where there is no object."""
        rows = values.new_zeros(self.present.numel(), *values.shape[1:])
        return rows.index_copy(0, self.slot, values).view(*self.present.shape, *values.shape[1:])

    def listed(self, block: Shaped[Tensor, "systems members ..."]) -> Shaped[Tensor, "objects ..."]:
        """The objects of a block, side by side again."""
        return block.flatten(0, 1)[self.slot]

    @cached_property
    def states(self) -> Float[Tensor, "systems members condition features"]:
        """The relative states as a block."""
        return self.padded(self.relative)

    @cached_property
    def absent(self) -> Bool[Tensor, "systems members 1"] | None:
        """Where the block has no object; None if it is full, which saves masking."""
        return None if self.present.all() else ~self.present.unsqueeze(2)


class Tokens(nn.Module):
    """A linear map of [what is known of an object at a time, the embedding of that time]."""

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


@dataclass(frozen=True)
class Memory:
    """What tokens offer to those that attend to them: two keys, for their own object and others.

    Tokens that are `hidden` cannot be attended to; one frame there stands for all.
    """

    own_key: Float[Tensor, "systems heads members frames size"]
    key: Float[Tensor, "systems heads members frames size"]
    value: Float[Tensor, "systems heads members frames size"]
    hidden: Bool[Tensor, "systems members #frames"] | None

    def with_later(self, later: "Memory") -> "Memory":
        """The same, and the tokens of later frames."""
        return Memory(
            torch.cat([self.own_key, later.own_key], dim=3),
            torch.cat([self.key, later.key], dim=3),
            torch.cat([self.value, later.value], dim=3),
            later.hidden,
        )


class AgentAwareAttention(nn.Module):
    """Attention over all tokens of a system that tells one's own from those of other objects."""

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
        """What tokens offer."""
        own_key, key, value = self._by_head(self.offers(tokens))
        return Memory(own_key, key, value, hidden)

    def forward(
        self, tokens: Float[Tensor, "systems members frames width"], memory: Memory
    ) -> Float[Tensor, "systems members frames width"]:
        """What each token reads from a memory."""
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
        """The vectors that stand side by side in the channels, each split into heads."""
        parts = x.view(*x.shape[:3], -1, self.heads, self.size).permute(3, 0, 4, 1, 2, 5)
        return tuple(parts.contiguous().unbind(0))


def _products(
    query: Float[Tensor, "systems heads members asking size"],
    key: Float[Tensor, "systems heads members frames size"],
) -> Float[Tensor, "systems heads members asking frames"]:
    """Scalar products of an object's queries with its own keys.

    For one query per object the gradient of a batched matrix product is slow, hence the sum.
    """
    if query.shape[3] == 1:
        return (query * key).sum(-1).unsqueeze(3)
    return query @ key.transpose(3, 4)


class Layer(nn.Module):
    """Attention among the tokens, to a context where there is one, and a feed-forward network.

    Each is added to the tokens and has a layer norm before it.
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
        """The tokens, and the memory of these and of past ones."""
        x = self.norms[0](tokens)
        memory = self.among.memory(x, hidden)
        memory = memory if past is None else past.with_later(memory)
        tokens = tokens + self.among(x, memory)
        if self.across is not None and context is not None:
            tokens = tokens + self.across(self.norms[1](tokens), context)
        return tokens + self.feed(self.norms[-1](tokens)), memory


class Transformer(nn.Module):
    """Layers of agent-aware attention, as an encoder or, with a past, as a decoder."""

    def __init__(self, layers: int, width: int, heads: int, *, crosses: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(width, heads, crosses=crosses) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def memories(
        self,
        context: Float[Tensor, "systems members frames width"],
        hidden: Bool[Tensor, "systems members #frames"] | None,
    ) -> list[Memory]:
        """The context as each layer attends to it."""
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
        """Tokens that attended to each other, to the past and to the context; and the new past."""
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


def divergence(posterior: DiagonalNormal, prior: DiagonalNormal) -> Float[Tensor, ""]:
    """Kullback-Leibler divergence of the posterior from the prior, summed over all objects."""
    apart = (posterior.mean - prior.mean).square() + posterior.log_variance.exp()
    ratio = prior.log_variance - posterior.log_variance
    return 0.5 * (ratio + apart * torch.exp(-prior.log_variance) - 1).sum()
