"""EqMotion: equivariant layers on whole motions that forecast all frames at once.

Each object has C vectors G_i (channels of a cosine transform of its history) and invariants h_i. A
reasoning module gives each pair a distribution c_ij over categories of interaction. Each layer:

    G_i <- a(h_i) * G_i
    G_i <- G_i + 1/(N - 1) sum_j sum_k c_ijk phi_k(h_i, h_j, |G_i - G_j|) * (G_i - G_j)
    G_i <- G_i + gate(Q G_i, K G_i),   gate(q, k) = q if q.k >= 0 else q - (q.k / k.k) k
    h_i <- h_i + phi_h(h_i, sum_j phi_m(h_i, h_j, |G_i - G_j|))

Products with * are per channel. The networks see invariants only, and maps of vectors mix channels
but not directions, so the forecast rotates, reflects and shifts with its input, exactly.

Xu, Tan, Tan, Chen, Wang, Wang, Wang: EqMotion: Equivariant Multi-agent Motion Prediction with
Invariant Interaction Reasoning, CVPR 2023.

Simplified: one forecast instead of many; histories are centred on the system once instead of in
every layer; layers have residual connections, and sums the factor 1/(N - 1). Velocities are inputs
like the positions, and a second output of the same vectors. Both outputs correct the motion with
constant velocity, by an amount that grows from 0 at the last observation. Pairs are the data's
edges with their attributes; `pairs=complete` reasons over all pairs as the original does, which on
Springs (ten epochs, one seed) took 1.5 times as long and had twice the validation error. Beyond
`frames` frames the model is applied again to its own forecast. Constants, and known inputs of the
history, are invariants. All frames are forecast at once, from one h, so inputs of the frames ahead
are not seen: those of late frames would act on early ones.
"""

from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, ModelConfig
from pgode.nn.exogenous import Exogenous
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import between_frames, frames_until
from pgode.nn.geometry import (
    Geometry,
    Motion,
    edge_displacement,
    norm,
    pair_share,
    system_sum,
)
from pgode.nn.initialisation import scaled
from pgode.nn.relation import EdgeRelation
from pgode.runtime.limits.bounds import FRAMES, LAYERS, WIDTH

INITIAL_SCALE = 0.01
"""Output layers start this much smaller, so that an untrained forecast keeps velocities."""


class EqMotionConfig(ModelConfig):
    """Settings of EqMotion."""

    width: int = Field(
        64, ge=1, le=WIDTH, description="vectors per object, and width of its invariants"
    )
    layers: int = Field(4, ge=1, le=LAYERS, description="equivariant layers")
    categories: int = Field(2, ge=1, le=LAYERS, description="categories of interaction")
    history: int = Field(12, ge=2, le=FRAMES, description="condition frames that are read")
    frames: int = Field(36, ge=1, le=FRAMES, description="future frames forecast at once")
    pairs: Literal["graph", "complete"] = Field(
        "graph", description="pairs that may interact: the data's edges, or all of a system"
    )


class EqMotion(Forecaster):
    """Equivariant motion prediction with invariant interaction reasoning."""

    config: EqMotionConfig
    config_type = EqMotionConfig
    known_inputs = "past"

    def __init__(self, config: EqMotionConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        self.geometry = Geometry(normaliser, "EqMotion")
        width, frames = config.width, config.frames
        values, history = len(self.geometry.values), config.history
        attributes = len(normaliser.edge_attributes)
        self.vectors = nn.Linear(2 * history, width, bias=False)
        self.exogenous = Exogenous.of(normaliser)
        known = self.exogenous.history_width(history)
        self.invariants = FeedForward(history * (4 + values) - 1 + known, width, width)
        self.reasoning = Reasoning(width, attributes, config.categories)
        self.layers = nn.ModuleList(
            # h after the last layer is used only if there are values to decode.
            EquivariantLayer(
                width,
                attributes,
                config.categories,
                update=bool(values) or layer < config.layers - 1,
            )
            for layer in range(config.layers)
        )
        self.position = scaled(nn.Linear(width, frames, bias=False), INITIAL_SCALE)
        self.velocity = scaled(nn.Linear(width, frames, bias=False), INITIAL_SCALE)
        value = nn.Linear(width, frames * values) if values else None
        self.value = None if value is None else scaled(value, INITIAL_SCALE)

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Extend the motion by `frames` at a time to the last time, then interpolate."""
        graph = batch.graph if self.config.pairs == "graph" else all_pairs(batch)
        motion = self.geometry.observe(batch, self.config.history)
        categories, motion = self.extend(motion, batch, graph)
        for _ in range((frames_until(times) - 1) // self.config.frames):
            motion = self.extend(motion, batch, graph)[1]
        rollout = self.geometry.features(motion)[:, self.config.history - 1 :]
        mean = between_frames(rollout, times, batch)
        edges = graph.degree.clamp(min=1).unsqueeze(1)
        contexts = {"interactions": graph.edge_sum(categories) / edges}
        return Forecast(mean, mean.expand(samples, *mean.shape), contexts)

    def extend(
        self, motion: Motion, batch: Batch, graph: Graph
    ) -> tuple[Float[Tensor, "edges categories"], Motion]:
        """Categories of the pairs, and the motion extended by `frames` frames."""
        recent = motion.recent(self.config.history)
        end = motion.seen.shape[1] - self.config.history  # Frames that are forecast already.
        vectors, h = self.embed(recent, batch, end)
        share = pair_share(batch)
        categories = self.reasoning(vectors, h, graph)
        for layer in self.layers:
            vectors, h = layer(vectors, h, categories, graph, share)
        frames = self.config.frames
        ahead = torch.arange(1, frames + 1, device=h.device, dtype=h.dtype).view(1, -1, 1)
        back = cosine_transform(frames, h).T * ahead[0] / frames
        position = recent.position[:, -1:] + self.geometry.gain * ahead * recent.velocity[:, -1:]
        position = position + back @ self.position(vectors).transpose(1, 2)
        velocity = recent.velocity[:, -1:] + back @ self.velocity(vectors).transpose(1, 2)
        value = recent.value[:, -1:].expand(-1, frames, -1)
        if self.value is not None:
            value = value + back @ self.value(h).unflatten(1, (frames, -1))
        future = Motion(position, velocity, value, torch.ones_like(position[:, :, 0]))
        return categories, motion.followed_by(future)

    def embed(
        self, motion: Motion, batch: Batch, end: int = 0
    ) -> tuple[Float[Tensor, "objects dims width"], Float[Tensor, "objects width"]]:
        """The initial G and h, from the history alone, which ends at frame `end`."""
        position, velocity = motion.position, motion.velocity
        transform = cosine_transform(position.shape[1], position)
        mean = position.mean(1, keepdim=True)
        centred = position - system_sum(mean, batch) / system_sum(torch.ones_like(mean), batch)
        both = torch.cat([transform @ centred, transform @ velocity], dim=1)
        speed = norm(velocity)
        turn = (velocity[:, 1:] * velocity[:, :-1]).sum(-1)
        turn = turn / (speed[:, 1:] * speed[:, :-1] + 1e-3)
        known = self.exogenous.history(batch, motion.seen.shape[1], end)
        invariants = [speed, turn, norm(centred), motion.seen, motion.value.flatten(1), known]
        return self.vectors(both.transpose(1, 2)), self.invariants(torch.cat(invariants, dim=1))


class PairNetwork(nn.Module):
    """silu(W [h_i, h_j, |G_i - G_j|, e_ij]) for each pair."""

    def __init__(self, width: int, attributes: int, outputs: int) -> None:
        super().__init__()
        self.relation = EdgeRelation(width, outputs, width + attributes)

    def forward(
        self,
        h: Float[Tensor, "objects width"],
        displacement: Float[Tensor, "edges dims width"],
        graph: Graph,
    ) -> Float[Tensor, "edges outputs"]:
        """One row per edge."""
        distance = norm(displacement.transpose(1, 2))
        edge = torch.cat([distance, graph.attributes], dim=1)
        return nn.functional.silu(self.relation(h, graph, edge))


class Reasoning(nn.Module):
    """The category of each pair's interaction, as a distribution that is invariant."""

    def __init__(self, width: int, attributes: int, categories: int) -> None:
        super().__init__()
        self.pair = PairNetwork(width, attributes, width)
        self.gather = FeedForward(2 * width, width, width)
        self.kind = PairNetwork(width, attributes, width)
        self.score = nn.Linear(width, categories)

    def forward(
        self,
        vectors: Float[Tensor, "objects dims width"],
        h: Float[Tensor, "objects width"],
        graph: Graph,
    ) -> Float[Tensor, "edges categories"]:
        """c_ij: each row sums to 1."""
        displacement = edge_displacement(vectors, graph)
        messages = graph.edge_sum(self.pair(h, displacement, graph))
        gathered = self.gather(torch.cat([h, messages], dim=1))
        return torch.softmax(self.score(self.kind(gathered, displacement, graph)), dim=1)


class EquivariantLayer(nn.Module):
    """One layer of the module's equations."""

    def __init__(self, width: int, attributes: int, categories: int, *, update: bool) -> None:
        super().__init__()
        self.categories = categories
        self.attention = FeedForward(width, width, width)
        self.pair = PairNetwork(width, attributes, categories * width)
        self.weight = nn.Linear(categories * width, width, bias=False)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.message = PairNetwork(width, attributes, width) if update else None
        self.update = FeedForward(2 * width, width, width) if update else None

    def forward(
        self,
        vectors: Float[Tensor, "objects dims width"],
        h: Float[Tensor, "objects width"],
        categories: Float[Tensor, "edges categories"],
        graph: Graph,
        share: Float[Tensor, "objects 1"],
    ) -> tuple[Float[Tensor, "objects dims width"], Float[Tensor, "objects width"]]:
        """G and h after the layer."""
        displacement = edge_displacement(vectors, graph)
        vectors = vectors + self.attention(h).unsqueeze(1) * vectors
        hidden = self.pair(h, displacement, graph).unflatten(1, (self.categories, -1))
        weight = self.weight((hidden * categories.unsqueeze(2)).flatten(1))
        pulls = graph.edge_sum((weight.unsqueeze(1) * displacement).flatten(1)) * share
        vectors = vectors + pulls.view_as(vectors)
        vectors = vectors + direction_gate(self.query(vectors), self.key(vectors))
        if self.message is not None and self.update is not None:
            messages = graph.edge_sum(self.message(h, displacement, graph))
            h = h + self.update(torch.cat([h, messages], dim=1))
        return vectors, h


def direction_gate(
    query: Float[Tensor, "objects dims width"], key: Float[Tensor, "objects dims width"]
) -> Float[Tensor, "objects dims width"]:
    """Each query without its component opposite to its key: a ReLU for vectors."""
    along = (query * key).sum(1, keepdim=True)
    square = key.square().sum(1, keepdim=True)
    return query - along.clamp(max=0) / (square + 1e-6) * key


def cosine_transform(frames: int, like: Tensor) -> Float[Tensor, "frames frames"]:
    """Orthonormal DCT-II as a matrix; its transpose is its inverse."""
    number = torch.arange(frames, device=like.device, dtype=like.dtype)
    waves = torch.cos(torch.pi / frames * (number + 0.5) * number.unsqueeze(1))
    waves = waves * (2 / frames) ** 0.5
    return torch.cat([waves[:1] * 0.5**0.5, waves[1:]])


def all_pairs(batch: Batch) -> Graph:
    """All pairs of a system, with the attributes of the data's edges and 0 for other pairs."""
    graph, pairs = batch.graph, Graph.complete(batch.system, batch.states.dtype)
    attributes = graph.attributes.new_zeros(pairs.edges, graph.attributes.shape[1])
    number = pairs.receivers * pairs.rows + pairs.senders  # pairs are sorted, so this rises
    known = graph.receivers * graph.rows + graph.senders
    place = torch.searchsorted(number, known)
    return replace(pairs, attributes=attributes.index_copy(0, place, graph.attributes))
