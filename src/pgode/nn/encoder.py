"""Encoder of the temporal graph (paper, Eq. 3-5)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.history import History
from pgode.nn.time_embedding import time_embedding
from pgode.windows import Batch

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
    ) -> None:
        super().__init__()
        self.width, self.share, self.rates = width, share, rates
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
        history = batch.history
        owner, frame = history.node_object, history.node_frame
        observation = self._observations(batch)[owner, frame]
        h = self.embed(observation)
        if self.relation is not None:
            h = h + self.relation(observation, history)
        embedded = time_embedding(batch.times[batch.system[owner], frame], self.width)
        weights = self._weights(batch)
        for norm, query, key, value in zip(
            self.norms, self.query, self.key, self.value, strict=True
        ):
            x = norm(h) + embedded
            attended = history.graph.attend(query(x), key(x), value(x), weights)
            h = h + nn.functional.silu(attended)
        summary = nn.functional.silu(self.summary(h + embedded))
        total: Tensor = summary.new_zeros(batch.objects, self.width).index_add(0, owner, summary)
        count = torch.bincount(owner, minlength=batch.objects).clamp(min=1)
        return total / count.unsqueeze(1)

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
        self, observation: Float[Tensor, "nodes inputs"], history: History
    ) -> Float[Tensor, "nodes width"]:
        """What the neighbours of each observation say of it."""
        received, sent = self.receive(observation), self.send(observation)
        out: Tensor = self.out(history.graph.neighbour_sum(received, sent, self.edge))
        return out
