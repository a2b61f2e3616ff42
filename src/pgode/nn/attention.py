"""Softmax attention over the observations of a batch, pooled into one vector per object."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.temporal_graph import TemporalGraph
from pgode.batches.windows import Batch
from pgode.nn.exogenous import NOTHING, Exogenous
from pgode.nn.time_embedding import time_embedding

TIME_SCALE = 0.1
"""Times count frames; this makes those of a condition of about ten comparable to the states."""


class AttentionEncoder(nn.Module):
    """L layers over the temporal graph, with separate maps for an object's past and its neighbours.

        x(j, d)  = silu(W [norm(h_j), d]) + TE(d)            d: time from i to j
        alpha_ij = softmax_j( W_q norm(h_i) . W_k^r x_j / sqrt(width) )
        h_i     <- h_i + silu( sum_j alpha_ij w_ij W_v^r x_j )

    r is the kind of the edge: "own" (another observation of the same object) or "other" (another
    object at the same frame, so that d = 0). An observation has a single outgoing own edge, to the
    observation before it, so x has one row per observation, and so have all matrix products.
    """

    def __init__(
        self, features: int, width: int, layers: int, exogenous: Exogenous = NOTHING
    ) -> None:
        super().__init__()
        self.exogenous = exogenous
        self.embed = nn.Linear(2 * features + exogenous.width, width)
        self.layers = nn.ModuleList(AttentionLayer(width) for _ in range(layers))
        self.pool = Pooling(width)

    def forward(self, batch: Batch) -> Float[Tensor, "objects outputs"]:
        """One vector per object; zero for an object that was never observed."""
        h, elapsed = self.embed(observations(batch, self.exogenous)), _elapsed(batch)
        for layer in self.layers:
            h = layer(h, elapsed, batch.history)
        pooled: Tensor = self.pool(h, batch)
        return pooled


class AttentionLayer(nn.Module):
    """One round of attention, with separate keys and values for the two kinds of edges."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.norm = nn.LayerNorm(width)
        self.timed = nn.Linear(width + 1, width)
        self.query = nn.Linear(width, width, bias=False)
        self.own = nn.Linear(width, 2 * width, bias=False)
        self.other = nn.Linear(width, 2 * width, bias=False)

    def forward(
        self,
        h: Float[Tensor, "nodes width"],
        elapsed: Float[Tensor, " nodes"],
        history: TemporalGraph,
    ) -> Float[Tensor, "nodes width"]:
        """The observations after one round."""
        normalised = self.norm(h)
        other = self.other(timed(self.timed, normalised, torch.zeros_like(elapsed)))
        own = self.own(timed(self.timed, normalised, elapsed))
        key, value = torch.cat([other, own]).chunk(2, dim=1)
        query = self.query(normalised) / self.width**0.5
        graph = history.by_kind
        return h + nn.functional.silu(graph.softmax_attend(query, key, value, graph.weights))


class Pooling(nn.Module):
    """One vector per object from its observations, followed by its last observation.

        x_t = silu(W [h_t, t]) + TE(t)
        a   = tanh(W_a mean_t x_t)
        u   = mean_t sigmoid(a . x_t) x_t

    A mean alone would hide the state at the end of the condition, where a forecast starts.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.outputs = 2 * width
        self.timed = nn.Linear(width + 1, width)
        self.ask = nn.Linear(width, width)

    def forward(
        self, h: Float[Tensor, "nodes width"], batch: Batch
    ) -> Float[Tensor, "objects outputs"]:
        """[u, h at the last observation]; zero for an object that was never observed."""
        owner = batch.history.node_object
        x = timed(self.timed, h, node_times(batch))
        asked = torch.tanh(self.ask(_mean(x, batch)))[owner]
        weight = torch.sigmoid((asked * x).sum(1, keepdim=True))
        pooled = _mean(weight * x, batch)
        # Observations are numbered frame by frame, so an object's last one has its largest number.
        number = torch.arange(owner.shape[0], device=owner.device) + 1
        last = torch.zeros(batch.objects, dtype=number.dtype, device=owner.device)
        last = last.scatter_reduce(0, owner, number, "amax")
        latest = torch.cat([h.new_zeros(1, h.shape[1]), h])[last]
        return torch.cat([pooled, latest], dim=1)


def observations(batch: Batch, exogenous: Exogenous = NOTHING) -> Float[Tensor, "nodes inputs"]:
    """Each observation: the values (0 where not observed), and which of them were observed.

    Then come the object's constants and the inputs of that frame.
    """
    known = batch.observed.to(batch.states.dtype)
    seen = torch.cat([batch.states * known, known, exogenous.past(batch)], dim=-1)
    return seen[batch.history.node_object, batch.history.node_frame]


def node_times(batch: Batch) -> Float[Tensor, " nodes"]:
    """Time of each observation in frames, counted from the end of the condition (at most 0)."""
    history = batch.history
    return batch.times[batch.system[history.node_object], history.node_frame]


def timed(
    mix: nn.Linear, h: Float[Tensor, "nodes width"], times: Float[Tensor, " nodes"]
) -> Float[Tensor, "nodes width"]:
    """silu(W [h, t]) + TE(t); inside W, time has the unit of the ODEs."""
    mixed = mix(torch.cat([h, TIME_SCALE * times.unsqueeze(1)], dim=1))
    return nn.functional.silu(mixed) + time_embedding(times, h.shape[1])


def _elapsed(batch: Batch) -> Float[Tensor, " nodes"]:
    """Frames since the previous observation of the same object; 0 for its first."""
    history, times = batch.history, node_times(batch)
    own = history.temporal
    sender, receiver = history.graph.senders.long()[own], history.graph.receivers[own]
    return torch.zeros_like(times).index_copy(0, sender, times[sender] - times[receiver])


def _mean(x: Float[Tensor, "nodes width"], batch: Batch) -> Float[Tensor, "objects width"]:
    """The mean over each object's observations; 0 if there are none."""
    owner = batch.history.node_object
    total = x.new_zeros(batch.objects, x.shape[1]).index_add(0, owner, x)
    return total / torch.bincount(owner, minlength=batch.objects).clamp(min=1).unsqueeze(1)
