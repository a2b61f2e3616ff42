"""Encoder of the temporal graph (paper, Eq. 3-5)."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from pgode.batches.graph import Graph
from pgode.batches.temporal_graph import TemporalGraph
from pgode.batches.windows import Batch
from pgode.nn.exogenous import NOTHING, Exogenous
from pgode.nn.relation import Relation
from pgode.nn.time_embedding import time_embedding
from pgode.ode.checkpointing import checkpointed
from pgode.runtime.limits.bounds import COUNT, LAYERS
from pgode.runtime.settings import Settings

RATE_SCALE = 10.0
"""Changes per frame are small compared with the states; this makes them comparable."""


class EncoderConfig(Settings):
    """Inputs, layers and scaling of the two encoders."""

    removed: ClassVar[Mapping[str, str]] = {
        "strength_context": "force laws (model.dynamics=laws) find how strong forces are"
    }

    layers: int = Field(2, ge=1, le=LAYERS, description="L, attention layers of each encoder")
    layer_norm: bool = Field(True, description="layer norm before each attention")
    degree_normalise: bool = Field(
        True, description="divide spatial weights by the number of spatial neighbours"
    )
    rates: bool = Field(True, description="read changes between frames in addition to values")
    relation: bool = Field(
        True, description="read a relation network's sum over each observation's neighbours"
    )
    reference_objects: int | None = Field(
        10,
        ge=1,
        le=COUNT,
        description="g is this many times the mean over objects; the sum of Eq. 5 if none",
    )


class TemporalGraphEncoder(nn.Module):
    """L layers of attention over observations, then a mean over each object's observations.

        s(i^t, j^t') = A(i^t, j^t') / sqrt(d) (W_q h^_i^t . W_k h^_j^t')
        h_i^t       <- h_i^t + sigma( sum_j^t' s(i^t, j^t') W_v h^_j^t' )
        u_i          = mean_t sigma( W_sum (h_i^t + TE(t)) )

    with h^ = h + TE(t). The scores have no softmax (Eq. 3), so they grow with the states and with
    the number of neighbours: hence `layer_norm` and `degree_normalise`. `rates` adds each
    feature's change until the next frame to an observation, and `relation` adds
    sum_j relu(W [o_i, o_j, e_ij]) over its neighbours. Together they pair a force with the
    acceleration that it caused, from which the strength of the forces can be inferred. Constants of
    the object and the known inputs of the frame are part of an observation where data have them.

    With `recompute` only the contexts are kept; inner states are computed again in the backward
    pass, part by part, which takes the memory of one part instead of that of both encoders.
    """

    def __init__(
        self,
        features: int,
        width: int,
        config: EncoderConfig,
        *,
        recompute: bool,
        exogenous: Exogenous = NOTHING,
    ) -> None:
        super().__init__()
        self.width, self.config, self.recompute = width, config, recompute
        self.exogenous = exogenous
        inputs = (4 if config.rates else 2) * features + exogenous.width
        self.embed = nn.Linear(inputs, width)
        self.relation = ObservationRelation(inputs, width) if config.relation else None
        layers = range(config.layers)
        self.norms = nn.ModuleList(
            nn.LayerNorm(width) if config.layer_norm else nn.Identity() for _ in layers
        )
        self.query = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in layers)
        self.key = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in layers)
        self.value = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in layers)
        self.summary = nn.Linear(width, width)

    def forward(self, batch: Batch) -> Float[Tensor, "objects width"]:
        """One context vector per object; zero for an object that was never observed."""
        encoded: Tensor = self._run(self._encode, batch)
        return encoded

    def _encode(self, batch: Batch) -> Float[Tensor, "objects width"]:
        history = batch.history
        owner, frame = history.node_object, history.node_frame
        observation = self._observations(batch)[owner, frame]
        h = self._run(self._first, observation, history)
        embedded = time_embedding(batch.times[batch.system[owner], frame], self.width)
        weights = self._weights(batch)
        for layer in range(len(self.norms)):
            h = self._run(self._attend, layer, h, embedded, history.graph, weights)
        summary = self._run(self._summarise, h, embedded)
        total: Tensor = summary.new_zeros(batch.objects, self.width).index_add(0, owner, summary)
        count = torch.bincount(owner, minlength=batch.objects).clamp(min=1)
        return total / count.unsqueeze(1)

    def _first(
        self, observation: Float[Tensor, "nodes inputs"], history: TemporalGraph
    ) -> Float[Tensor, "nodes width"]:
        """The representation of an observation before any attention."""
        h: Tensor = self.embed(observation)
        return h if self.relation is None else h.add_(self.relation(observation, history))

    def _summarise(
        self, h: Float[Tensor, "nodes width"], embedded: Float[Tensor, "nodes width"]
    ) -> Float[Tensor, "nodes width"]:
        """sigma(W_sum (h + TE(t))) of Eq. 5."""
        return nn.functional.silu(self.summary(h + embedded))

    def _attend(
        self,
        layer: int,
        h: Float[Tensor, "nodes width"],
        embedded: Float[Tensor, "nodes width"],
        graph: Graph,
        weights: Float[Tensor, " edges"],
    ) -> Float[Tensor, "nodes width"]:
        """One layer of Eq. 3-4."""
        x = self.norms[layer](h) + embedded
        query, key, value = (part[layer](x) for part in (self.query, self.key, self.value))
        return nn.functional.silu(graph.attend(query, key, value, weights)).add_(h)

    def _run(self, part: Callable[..., Tensor], *inputs: Any) -> Tensor:
        """A part's output; with `recompute`, intermediate results are not kept."""
        return checkpointed(part, *inputs) if self.recompute else part(*inputs)

    def _observations(self, batch: Batch) -> Float[Tensor, "objects condition inputs"]:
        """Observed values of each object and frame, their mask and, with `rates`, their changes.

        Constants and known inputs follow.
        """
        known = batch.observed.to(batch.states.dtype)
        parts = [batch.states * known, known]
        if self.config.rates:
            both = known[:, 1:] * known[:, :-1]
            elapsed = batch.times.diff(dim=1)[batch.system].unsqueeze(2)
            rate = RATE_SCALE * batch.states.diff(dim=1) / elapsed.clamp(min=1e-6) * both
            parts += [nn.functional.pad(part, (0, 0, 0, 1)) for part in (rate, both)]
        return torch.cat([*parts, self.exogenous.past(batch)], dim=-1)

    def _weights(self, batch: Batch) -> Float[Tensor, " edges"]:
        """A^tem / sqrt(d), with `degree_normalise` over the number of spatial neighbours."""
        graph = batch.history.graph
        weights: Tensor = graph.weights / self.width**0.5
        if not self.config.degree_normalise:
            return weights
        spatial = (~batch.history.temporal).to(weights.dtype)
        rows = graph.receivers
        degree = torch.zeros_like(graph.degree).index_add(0, rows, spatial).clamp(min=1)
        return torch.where(batch.history.temporal, weights, weights / degree[rows])


class ObservationRelation(Relation):
    """W sum_j relu(A o_i + B o_j + c e_ij) over an observation's neighbours in the temporal graph.

    e_ij is the weight of the edge and whether it is a temporal one.
    """

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__(inputs, width, attributes=2, edge_bound=1.0)
        self.out = nn.Linear(width, width, bias=False)

    def forward(
        self, observation: Float[Tensor, "nodes inputs"], history: TemporalGraph
    ) -> Float[Tensor, "nodes width"]:
        """One row per observation."""
        out: Tensor = self.out(self.neighbour_sum(observation, history.graph))
        return out
