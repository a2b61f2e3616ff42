"""Encoder of the temporal graph (paper, Eq. 3-5)."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from pgode.batches.graph import Graph
from pgode.batches.temporal_graph import TemporalGraph
from pgode.batches.windows import Batch
from pgode.nn.time_embedding import time_embedding

RATE_SCALE = 10.0
"""Changes per frame are small beside the states; this brings them to one size."""


class TemporalGraphEncoder(nn.Module):
    """L layers of attention over observations, then a mean over each object's observations.

        s(i^t, j^t') = A(i^t, j^t') / sqrt(d) (W_q h^_i^t . W_k h^_j^t')
        h_i^t       <- h_i^t + sigma( sum_j^t' s(i^t, j^t') W_v h^_j^t' )
        u_i          = mean_t sigma( W_sum (h_i^t + TE(t)) )

    with h^ = h + TE(t). The scores have no softmax (Eq. 3), so they grow with the states and with
    the number of neighbours. `normalise` puts a layer norm before each attention; `share` divides
    each spatial weight by the number of an observation's spatial neighbours. `rates` adds each
    feature's change until the next frame to what is known of an observation, and `relate` adds
    sum_j relu(W [o_i, o_j, e_ij]) over its neighbours: together they hold a force beside the
    acceleration it caused, from which a context can tell how strong the forces are.

    `recompute` keeps the contexts only, and makes the inner states again in the backward pass,
    there again part by part: the memory of one part instead of that of both encoders.
    """

    def __init__(
        self,
        features: int,
        width: int,
        layers: int,
        *,
        normalise: bool,
        share: bool,
        rates: bool,
        relate: bool,
        recompute: bool,
    ) -> None:
        super().__init__()
        self.width, self.share, self.rates, self.recompute = width, share, rates, recompute
        inputs = (4 if rates else 2) * features
        self.embed = nn.Linear(inputs, width)
        self.relation = Relation(inputs, width, attributes=2) if relate else None
        self.norms = nn.ModuleList(
            nn.LayerNorm(width) if normalise else nn.Identity() for _ in range(layers)
        )
        self.query = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.key = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.value = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.summary = nn.Linear(width, width)

    def forward(self, batch: Batch) -> Float[Tensor, "objects width"]:
        """One context vector per object; zero for an object that was never observed."""
        encoded: Tensor = self._kept_short(self._encode, batch)
        return encoded

    def _encode(self, batch: Batch) -> Float[Tensor, "objects width"]:
        history = batch.history
        owner, frame = history.node_object, history.node_frame
        observation = self._observations(batch)[owner, frame]
        h = self._kept_short(self._first, observation, history)
        embedded = time_embedding(batch.times[batch.system[owner], frame], self.width)
        weights = self._weights(batch)
        for layer in range(len(self.norms)):
            h = self._kept_short(self._attend, layer, h, embedded, history.graph, weights)
        summary = self._kept_short(self._summarise, h, embedded)
        total: Tensor = summary.new_zeros(batch.objects, self.width).index_add(0, owner, summary)
        count = torch.bincount(owner, minlength=batch.objects).clamp(min=1)
        return total / count.unsqueeze(1)

    def _first(
        self, observation: Float[Tensor, "nodes inputs"], history: TemporalGraph
    ) -> Float[Tensor, "nodes width"]:
        """What an observation is before any attention."""
        h: Tensor = self.embed(observation)
        return h if self.relation is None else h + self.relation(observation, history)

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
        return h + nn.functional.silu(graph.attend(query, key, value, weights))

    def _kept_short(self, part: Callable[..., Tensor], *inputs: Any) -> Tensor:
        """A part's output; with `recompute`, what it was made from is not kept."""
        if not self.recompute or not torch.is_grad_enabled():
            return part(*inputs)
        made: Tensor = checkpoint(part, *inputs, use_reentrant=False, preserve_rng_state=False)
        return made

    def _observations(self, batch: Batch) -> Float[Tensor, "objects condition inputs"]:
        """What is known of each object at each frame: values, their mask, and perhaps rates."""
        known = batch.observed.to(batch.states.dtype)
        parts = [batch.states * known, known]
        if self.rates:
            both = known[:, 1:] * known[:, :-1]
            elapsed = batch.times.diff(dim=1)[batch.system].unsqueeze(2)
            rate = RATE_SCALE * batch.states.diff(dim=1) / elapsed.clamp(min=1e-6) * both
            parts += [nn.functional.pad(part, (0, 0, 0, 1)) for part in (rate, both)]
        return torch.cat(parts, dim=-1)

    def _weights(self, batch: Batch) -> Float[Tensor, " edges"]:
        """A^tem / sqrt(d), spatial weights shared out among an observation's neighbours."""
        graph = batch.history.graph
        weights: Tensor = graph.weights / self.width**0.5
        if not self.share:
            return weights
        spatial = (~batch.history.temporal).to(weights.dtype)
        rows = graph.receivers
        degree = torch.zeros_like(graph.degree).index_add(0, rows, spatial).clamp(min=1)
        return torch.where(batch.history.temporal, weights, weights / degree[rows])


class Relation(nn.Module):
    """W sum_j relu(A o_i + B o_j + c e_ij) over an observation's neighbours in the temporal graph.

    e_ij is the weight of the edge and whether it is a temporal one.
    """

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__()
        self.receive = nn.Linear(inputs, width)
        self.send = nn.Linear(inputs, width, bias=False)
        self.edge = nn.Parameter(torch.empty(attributes, width).uniform_(-1, 1))
        self.out = nn.Linear(width, width, bias=False)

    def forward(
        self, observation: Float[Tensor, "nodes inputs"], history: TemporalGraph
    ) -> Float[Tensor, "nodes width"]:
        """What the neighbours of each observation say of it."""
        received, sent = self.receive(observation), self.send(observation)
        out: Tensor = self.out(history.graph.neighbour_sum(received, sent, self.edge))
        return out
