"""PGODE-S: only the prototypes with an object's largest weights are evaluated."""

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.batches.graph import Graph
from pgode.batches.windows import Batch
from pgode.models.pgode.dynamics.messages import ContextRelation
from pgode.models.pgode.dynamics.prototypes import Prototypes
from pgode.models.pgode.dynamics.update import Mixture
from pgode.models.pgode.gates import Contexts


def top_weights(
    gate: Float[Tensor, "objects prototypes"], top_k: int
) -> tuple[Float[Tensor, "objects top_k"], Int[Tensor, "objects top_k"]]:
    """Each object's largest weights, scaled to sum to 1, and the prototypes they belong to."""
    chosen = gate.topk(top_k, dim=1)
    return chosen.values / chosen.values.sum(1, keepdim=True), chosen.indices


class SparsePrototypes(Prototypes):
    """PGODE-S: each object uses only the prototypes with its largest weights.

    The pairs (object, chosen prototype) are laid out by prototype, as the rows of a larger graph
    in which pair (i, k) receives prototype k's message from each neighbour. Prototypes that an
    object does not use are neither gathered nor updated; only the senders' map is computed for all
    of them, since nearly each is used by some neighbour.
    """

    def __init__(self, inputs: int, width: int, count: int, attributes: int, top_k: int) -> None:
        super().__init__(inputs, width, count, attributes)
        self.top_k, self.count, self.width = top_k, count, width

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The mixture of the chosen prototypes; their weights are scaled to sum to 1."""
        assert isinstance(self.gather, ContextRelation)
        count, width = self.count, self.width
        share, chosen = top_weights(gate, self.top_k)
        if torch.compiler.is_exporting():  # Sizes of groups are unknown: weights of 0 instead.
            return super().bind(torch.zeros_like(gate).scatter(1, chosen, share), contexts, batch)
        prototype, order = chosen.flatten().sort(stable=True)
        owner = order // self.top_k
        weights = share.flatten()[order].unsqueeze(1)
        sizes = torch.bincount(prototype, minlength=count).tolist()
        graph = _pair_graph(batch.graph, owner, prototype, count)
        receive = self.gather.receive.weight.view(count, width, -1).transpose(1, 2)
        receive_bias = self.gather.receive.bias.view(count, width)
        edge = self.gather.edge.view(-1, count, width).transpose(0, 1).reshape(-1, width)
        update, send = self.update, self.gather.send

        def mix(z: Tensor) -> Tensor:
            received = _by_group(z[owner], sizes, receive, receive_bias)
            gathered = graph.neighbour_sum(received, send(z).view(-1, width), edge)
            hidden = _by_group(gathered, sizes, update.first, update.first_bias.squeeze(1)).relu()
            out = _by_group(hidden, sizes, update.second, update.second_bias) * weights
            return z.new_zeros(z.shape[0], width).index_add(0, owner, out)

        return mix


def _by_group(
    rows: Float[Tensor, "pairs inputs"],
    sizes: list[int],
    weight: Float[Tensor, "count inputs outputs"],
    bias: Float[Tensor, "count outputs"],
) -> Float[Tensor, "pairs outputs"]:
    """Each prototype's linear map of its own rows.

    One product per prototype: padding the groups to one size, for a single batched product, would
    undo the saving as soon as one prototype is used by most objects.
    """
    parts = zip(torch.split(rows, sizes), weight, bias, strict=True)
    return torch.cat([torch.addmm(b, part, w) for part, w, b in parts])


def _pair_graph(graph: Graph, owner: Tensor, prototype: Tensor, count: int) -> Graph:
    """The graph of pairs: row (i, k) receives column (j, k) for each neighbour j of object i.

    Each prototype has its own columns of edge attributes, which are zero for the others' pairs.
    """
    device, dtype = graph.attributes.device, graph.attributes.dtype
    objects, kinds = owner.cpu().numpy(), prototype.cpu().numpy()
    offsets = graph.offsets.cpu().numpy().astype(np.int64)
    length = np.diff(offsets)[objects]
    rows = np.repeat(np.arange(len(objects)), length)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(length) - length, length)
    edges = np.repeat(offsets[objects], length) + within
    kind = kinds[rows]
    values = graph.attributes.cpu().numpy()[edges]
    size = values.shape[1]
    attributes = np.zeros((len(rows), count * size), values.dtype)
    np.put_along_axis(attributes, kind[:, None] * size + np.arange(size), values, axis=1)
    return Graph.from_edges(
        rows.astype(np.int32),
        graph.senders.cpu().numpy()[edges] * count + kind,
        attributes,
        len(objects),
        graph.columns * count,
        dtype=dtype,
    ).to(device)
