"""Right-hand sides of the prototypical graph ODE (paper, Eq. 9-10) and of its variants."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from pgode.batches.graph import Graph
from pgode.batches.windows import Batch
from pgode.models.pgode.gates import Contexts
from pgode.models.pgode.messages import Relation, messages
from pgode.nn.feedforward import FeedForward

Mixture = Callable[[Float[Tensor, "objects inputs"]], Float[Tensor, "objects width"]]


class RightHandSide(Protocol):
    """Binds what is constant along a trajectory (gate, graph, contexts) and returns the rest."""

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The mixed prototype output as a function of the state alone."""
        ...


class Update(nn.Module):
    """psi_a of all prototypes: K two-layer networks, mixed by the gate.

    sum_k w_ik ( W2_k relu(W1_k s_ik + b1_k) + b2_k )
    """

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        bound = width**-0.5
        self.first = nn.Parameter(torch.empty(count, width, width).uniform_(-bound, bound))
        self.first_bias = nn.Parameter(torch.empty(count, 1, width).uniform_(-bound, bound))
        self.second = nn.Parameter(torch.empty(count, width, width).uniform_(-bound, bound))
        self.second_bias = nn.Parameter(torch.empty(count, width).uniform_(-bound, bound))

    def bind(self, gate: Float[Tensor, "objects count"]) -> Mixture:
        """Mix with fixed weights; their share of the bias is worked out once."""
        bias = gate @ self.second_bias

        def mix(gathered: Tensor) -> Tensor:
            tensors = (gathered, gate, self.first, self.first_bias, self.second)
            weighted: Tensor = _MixedUpdate.apply(*tensors)  # type: ignore[no-untyped-call]
            return bias + weighted

        return mix


class _MixedUpdate(torch.autograd.Function):
    """sum_k w_ik W2_k relu(W1_k s_ik + b1_k), keeping one hidden layer instead of three.

    Plain autograd would keep the weighted hidden layer beside the unweighted one at each of the
    four stages of each frame: a fifth of the memory of a whole training step.
    """

    @staticmethod
    def forward(
        ctx: Any, gathered: Tensor, gate: Tensor, first: Tensor, first_bias: Tensor, second: Tensor
    ) -> Tensor:
        hidden = torch.baddbmm(first_bias, _by_prototype(gathered, first), first).relu_()
        ctx.save_for_backward(gathered, gate, first, second, hidden)
        weighted = hidden * gate.T.unsqueeze(2)
        out = weighted.new_zeros(gathered.shape[0], second.shape[2])
        return out.addbmm_(weighted, second)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        gathered, gate, first, second, hidden = ctx.saved_tensors
        weights = gate.T.unsqueeze(2)
        grads = grad.expand(first.shape[0], -1, -1)
        grad_second = torch.bmm((hidden * weights).transpose(1, 2), grads)
        passed = torch.bmm(grads, second.transpose(1, 2))
        grad_gate = torch.linalg.vecdot(passed, hidden).T
        passed = passed.mul_(weights).mul_(hidden > 0)
        grad_first = torch.bmm(_by_prototype(gathered, first).transpose(1, 2), passed)
        grad_gathered = torch.empty_like(gathered)
        _by_prototype(grad_gathered, first).copy_(torch.bmm(passed, first.transpose(1, 2)))
        return grad_gathered, grad_gate, grad_first, passed.sum(1, keepdim=True), grad_second


def _by_prototype(gathered: Tensor, first: Tensor) -> Tensor:
    """(objects, K width) seen as (K, objects, width), without a copy."""
    return gathered.view(-1, first.shape[0], first.shape[1]).transpose(0, 1)


class Prototypes(nn.Module):
    """K message-passing functions, mixed for each object by its gate weights.

    sum_k w_ik psi_a^k( sum_j psi_r^k([z_i, z_j, e_ij]) )
    """

    def __init__(
        self,
        inputs: int,
        width: int,
        count: int,
        attributes: int,
        backbone: str = "message",
        context: int = 0,
    ) -> None:
        super().__init__()
        self.gather = messages(backbone, inputs, count * width, attributes, context)
        self.update = Update(width, count)

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The mixed output as a function of the state."""
        gather = self.gather.bind(batch.graph, self._context(contexts, batch))
        mix = self.update.bind(gate)
        return lambda z: mix(gather(z))

    def _context(self, contexts: Contexts, batch: Batch) -> Tensor | None:
        return None


class Single(Prototypes):
    """w. Single: one message function that is fed [z_i, z_j, u_i, g] instead of being mixed."""

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__(inputs, width, 1, attributes, context=2 * width)

    def _context(self, contexts: Contexts, batch: Batch) -> Tensor | None:
        return torch.cat([contexts.object, contexts.system[batch.system]], dim=-1)


class WithMLP(Prototypes):
    """w. MLP: one GNN plus a network on the contexts that gives each object its own drift."""

    def __init__(self, inputs: int, width: int, attributes: int) -> None:
        super().__init__(inputs, width, 1, attributes)
        self.individual = FeedForward(2 * width, width, width)

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The GNN of the state plus a drift that is constant along the trajectory."""
        shared = super().bind(gate, contexts, batch)
        both = torch.cat([contexts.object, contexts.system[batch.system]], dim=-1)
        drift = self.individual(both)
        return lambda z: shared(z) + drift


class TopPrototypes(Prototypes):
    """PGODE-S: each object uses only the prototypes with its largest weights.

    The pairs (object, chosen prototype) are laid out by prototype, as the rows of a larger graph
    in which pair (i, k) hears prototype k's part of each neighbour. What an object does not use
    is then neither gathered nor updated; only the senders' map is made for all prototypes, since
    some neighbour needs nearly each of them.
    """

    def __init__(self, inputs: int, width: int, count: int, attributes: int, top: int) -> None:
        super().__init__(inputs, width, count, attributes)
        self.top, self.count, self.width = top, count, width

    def bind(
        self, gate: Float[Tensor, "objects count"], contexts: Contexts, batch: Batch
    ) -> Mixture:
        """The mixture of the chosen prototypes; their weights are scaled to sum to 1."""
        assert isinstance(self.gather, Relation)
        count, width = self.count, self.width
        chosen = gate.topk(self.top, dim=1)
        share = chosen.values / chosen.values.sum(1, keepdim=True)
        prototype, order = chosen.indices.flatten().sort(stable=True)
        owner = order // self.top
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
    do again the work that a sparse gate saves as soon as one prototype is popular.
    """
    parts = zip(torch.split(rows, sizes), weight, bias, strict=True)
    return torch.cat([torch.addmm(b, part, w) for part, w, b in parts])


def _pair_graph(graph: Graph, owner: Tensor, prototype: Tensor, count: int) -> Graph:
    """The graph of pairs: row (i, k) hears column (j, k) for each neighbour j of object i.

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
    own = graph.attributes.cpu().numpy()[edges]
    size = own.shape[1]
    attributes = np.zeros((len(rows), count * size), own.dtype)
    np.put_along_axis(attributes, kind[:, None] * size + np.arange(size), own, axis=1)
    return Graph.from_edges(
        rows.astype(np.int32),
        graph.senders.cpu().numpy()[edges] * count + kind,
        attributes,
        len(objects),
        graph.columns * count,
        dtype=dtype,
    ).to(device)
