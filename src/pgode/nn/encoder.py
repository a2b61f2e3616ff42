"""Encoder of the temporal graph (paper, Eq. 3-5)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.nn.time_embedding import time_embedding
from pgode.windows import Batch


class TemporalGraphEncoder(nn.Module):
    """L layers of attention over observations, then a mean over each object's observations.

        s(i^t, j^t') = A(i^t, j^t') / sqrt(d) (W_q h^_i^t . W_k h^_j^t')
        h_i^t       <- h_i^t + sigma( sum_j^t' s(i^t, j^t') W_v h^_j^t' )
        u_i          = mean_t sigma( W_sum (h_i^t + TE(t)) )

    with h^ = h + TE(t). The scores have no softmax (Eq. 3), so they grow with the states and with
    the number of neighbours. `normalise` puts a layer norm before each attention; `share` divides
    each spatial weight by the number of an observation's spatial neighbours.
    """

    def __init__(
        self, features: int, width: int, layers: int, *, normalise: bool, share: bool
    ) -> None:
        super().__init__()
        self.width, self.share = width, share
        self.embed = nn.Linear(2 * features, width)
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
        known = batch.observed[owner, frame].to(batch.states.dtype)
        h = self.embed(torch.cat([batch.states[owner, frame] * known, known], dim=-1))
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
