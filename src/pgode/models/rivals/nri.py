"""NRI: infers the kind of every pair's interaction from the history, then steps frame by frame.

    h_ij = f_1([h_i, h_j]),  h_i = f_0(history of i);    h'_i = g(mean_j h_ij)
    q(e_ij | history) = softmax(f_2([h'_i, h'_j, h_ij])) over K kinds of interaction

    x_i(t + 1) = x_i(t) + r([x_i(t), sum_j sum_k e_ijk m_k([x_i(t), x_j(t)])])

T. Kipf, E. Fetaya, K.-C. Wang, M. Welling, R. Zemel: Neural Relational Inference for Interacting
Systems, ICML 2018.

The kinds of all ordered pairs of a system's objects are inferred; the graph of the data is not an
input. Time and memory grow with the square of the number of objects.

Simplified: the original encodes and decodes the same frames, and its decoder is given the true
state every tenth frame; here the encoder sees the condition and the decoder forecasts the whole
horizon from the last state. The second layer of m_k is linear, so that it can be applied after the
sum over pairs. Layer norm replaces batch norm, which would let the systems of a batch affect each
other. The inputs of the encoder are the last state and the scaled changes before it instead of the
states: the same information, from which accelerations are far easier to learn. If the data have no
named velocities, a state alone does not determine its future, and the change since the previous
frame is a second input of the decoder (for such data the original has a recurrent decoder).
Constants and known inputs are beside the history and, frame by frame, beside x(t).
"""

import math

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.normaliser import Normaliser
from pgode.batches.parallel.share import Share
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecast, Forecaster, Losses, ModelConfig, squared_error
from pgode.nn.exogenous import Exogenous, beside
from pgode.nn.feedforward import FeedForward
from pgode.nn.frames import between_frames, frames_until, whole_frames
from pgode.nn.relation import EdgeRelation
from pgode.runtime.limits.bounds import FRAMES, LARGE, LAYERS, SMALL, WIDTH

CHANGE_SCALE = 10.0
"""Changes per frame are small compared with the states; this makes them comparable."""


class NRIConfig(ModelConfig):
    """Settings of NRI; the sizes are those of the original.

    `no_edge` is off because drawn edges are mere noise in the forces at first: on Springs, the
    posterior then settled within one epoch on interactions between all pairs and stayed there.
    """

    width: int = Field(256, ge=1, le=WIDTH, description="width of all networks")
    edge_types: int = Field(2, ge=2, le=LAYERS, description="kinds of interaction, K")
    no_edge: bool = Field(False, description="the first kind is no interaction: it sends nothing")
    history: int = Field(
        12, ge=1, le=FRAMES, description="last condition frames that the encoder sees"
    )
    temperature: float = Field(
        0.5, ge=SMALL, le=LARGE, description="temperature of the softmax over kinds"
    )
    variance: float = Field(
        5e-5, ge=SMALL, le=LARGE, description="variance of the Gaussian likelihood"
    )


class NRI(Forecaster):
    """Neural relational inference."""

    config: NRIConfig
    config_type = NRIConfig
    known_inputs = "ahead"

    def __init__(self, config: NRIConfig, normaliser: Normaliser) -> None:
        super().__init__(config, normaliser)
        features = len(normaliser.features)
        self.exogenous = Exogenous.of(normaliser)
        seen = config.history * features + self.exogenous.history_width(config.history)
        self.encoder = EdgeEncoder(seen, config.width, config.edge_types)
        self.decoder = EdgeDecoder(
            features,
            config.width,
            config.edge_types - config.no_edge,
            changes=not normaliser.velocities,
            exogenous=self.exogenous.width,
        )

    def loss(self, batch: Batch) -> Losses:
        """Negative ELBO per observed value, times twice the variance.

        The factor makes the reconstruction term the squared error itself. The prior of an edge is
        uniform over the kinds.
        """
        config = self.config
        frames, graph, logits = self.infer(batch)
        drawn = _drawn_kinds(logits, config.temperature, batch.share)
        error = squared_error(batch, self.decode(batch, frames, graph, drawn, batch.target_times))
        divergence = divergence_from_uniform(logits).sum()
        terms = {"reconstruction": error, "kl": 2 * config.variance * divergence / batch.values}
        return Losses(terms["reconstruction"] + terms["kl"], {**terms, "mse": error})

    def forecast(
        self, batch: Batch, times: Float[Tensor, "systems outputs"], samples: int = 0
    ) -> Forecast:
        """Forecast with each edge a mixture of kinds; each sample draws one kind per edge.

        The context of an object is the mean probability of each kind over its edges.
        """
        frames, graph, logits = self.infer(batch)
        weights = torch.softmax(logits / self.config.temperature, dim=-1)
        mean = self.decode(batch, frames, graph, weights, times)
        drawn = [
            self.decode(
                batch, frames, graph, nn.functional.gumbel_softmax(logits, hard=True), times
            )
            for _ in range(samples)
        ]
        stacked = torch.stack(drawn) if drawn else mean.new_empty(0, *mean.shape)
        return Forecast(mean, stacked, {"edge_types": _mean(graph, logits.softmax(-1))})

    def infer(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "objects history features"], Graph, Float[Tensor, "edges kinds"]]:
        """The history in whole frames, the pairs of objects, and the logits of their kinds."""
        frames = whole_frames(batch, self.config.history)
        graph = Graph.complete(batch.system, frames.dtype)
        history = torch.cat([frames[:, -1:], CHANGE_SCALE * frames.diff(dim=1)], dim=1)
        known = self.exogenous.history(batch, self.config.history)
        seen = torch.cat([history.flatten(1), known], dim=1)
        return frames, graph, self.encoder(seen, graph)

    def decode(
        self,
        batch: Batch,
        frames: Float[Tensor, "objects history features"],
        graph: Graph,
        edges: Float[Tensor, "edges kinds"],
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "objects outputs features"]:
        """Roll out from the last frame, with the weights of the kinds of each edge."""
        weights = edges[:, 1:] if self.config.no_edge else edges
        known = self.exogenous.ahead(batch, frames_until(times))
        rollout = self.decoder(frames[:, -2:], graph, weights, known)
        return between_frames(rollout, times, batch)


def _drawn_kinds(
    logits: Float[Tensor, "edges kinds"], temperature: float, share: Share
) -> Float[Tensor, "edges kinds"]:
    """A draw from the relaxed distribution of each edge's kind (Gumbel-softmax)."""
    gumbel = -share.exponential_like(logits).log()
    return torch.softmax((logits + gumbel) / temperature, dim=-1)


class EdgeEncoder(nn.Module):
    """Object -> edge -> object -> edge: logits of each pair's kind from the histories."""

    def __init__(self, inputs: int, width: int, kinds: int) -> None:
        super().__init__()
        self.objects = FeedForward(inputs, width, width)
        self.first = PairNetwork(width, width, width)
        self.gathered = FeedForward(width, width, width)
        self.second = PairNetwork(width, width, kinds, edge_inputs=width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))

    def forward(
        self, histories: Float[Tensor, "objects inputs"], graph: Graph
    ) -> Float[Tensor, "edges kinds"]:
        """Logits over the kinds of every edge."""
        h = self.norms[0](self.objects(histories))
        edges = self.norms[1](self.first(h, graph))
        h = self.norms[2](self.gathered(_mean(graph, edges)))
        logits: Tensor = self.second(h, graph, edges)
        return logits


class PairNetwork(nn.Module):
    """A feed-forward network of [x_i, x_j, y_ij] for every edge."""

    def __init__(self, inputs: int, width: int, outputs: int, edge_inputs: int = 0) -> None:
        super().__init__()
        self.relation = EdgeRelation(inputs, width, edge_inputs)
        self.out = nn.Linear(width, outputs)

    def forward(
        self,
        x: Float[Tensor, "objects inputs"],
        graph: Graph,
        y: Float[Tensor, "edges edge_inputs"] | None = None,
    ) -> Float[Tensor, "edges outputs"]:
        """One row per edge."""
        out: Tensor = self.out(nn.functional.silu(self.relation(x, graph, y)))
        return out


class EdgeDecoder(nn.Module):
    """x_i + r([x_i, sum_j sum_k e_ijk m_k([x_i, x_j])]), frame by frame.

    The first layers of all m_k are one product per object; their second layers follow the sum.
    `changes` adds the change since the previous frame to the inputs, `exogenous` so many constants
    and known inputs of the next frame.
    """

    def __init__(
        self, features: int, width: int, kinds: int, *, changes: bool, exogenous: int = 0
    ) -> None:
        super().__init__()
        self.changes, self.width = changes, width
        inputs = (2 * features if changes else features) + exogenous
        self.relation = EdgeRelation(inputs, kinds * width)
        self.message = nn.Linear(kinds * width, width, bias=False)
        self.hidden = nn.Linear(inputs + width, width)
        self.update = FeedForward(width, width, features)
        # An untrained model then nearly keeps the last state, instead of a random walk from it.
        nn.init.normal_(self.update.second.weight, std=1e-3)
        nn.init.zeros_(self.update.second.bias)

    def forward(
        self,
        last: Float[Tensor, "objects recent features"],
        graph: Graph,
        weights: Float[Tensor, "edges kinds"],
        known: Float[Tensor, "objects frames exogenous"],
    ) -> Float[Tensor, "objects frames+1 features"]:
        """The last of the recent states, and those of the frames that `known` is given for."""
        before, state = last[:, 0], last[:, -1]
        rollout = [state]
        for given in known.unbind(1):
            inputs = state
            if self.changes:
                inputs = torch.cat([state, CHANGE_SCALE * (state - before)], dim=-1)
            inputs = beside(inputs, given)
            before, state = state, state + self.change(inputs, graph, weights)
            rollout.append(state)
        return torch.stack(rollout, dim=1)

    def change(
        self,
        inputs: Float[Tensor, "objects inputs"],
        graph: Graph,
        weights: Float[Tensor, "edges kinds"],
    ) -> Float[Tensor, "objects features"]:
        """The change of each state within one frame."""
        by_kind = torch.relu(self.relation(inputs, graph)).view(*weights.shape, self.width)
        messages = self.message(graph.edge_sum((by_kind * weights.unsqueeze(2)).flatten(1)))
        hidden = torch.relu(self.hidden(torch.cat([inputs, messages], dim=-1)))
        change: Tensor = self.update(hidden)
        return change


def divergence_from_uniform(logits: Float[Tensor, "edges kinds"]) -> Float[Tensor, " edges"]:
    """Kullback-Leibler divergence of each edge's distribution from the uniform distribution."""
    logarithm = torch.log_softmax(logits, dim=-1)
    return (logarithm.exp() * logarithm).sum(-1) + math.log(logits.shape[1])


def _mean(graph: Graph, values: Float[Tensor, "edges channels"]) -> Tensor:
    """The mean over each object's incoming edges; 0 for an object alone in its system."""
    return graph.edge_sum(values) / graph.degree.clamp(min=1).unsqueeze(1)
