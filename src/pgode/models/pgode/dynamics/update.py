"""psi_a of all prototypes at once, mixed by the gate (paper, Eq. 10)."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

Mixture = Callable[[Float[Tensor, "objects inputs"]], Float[Tensor, "objects width"]]


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
        """Mix with fixed weights; the mixed bias is computed once."""
        bias, shares = gate @ self.second_bias, gate.T.unsqueeze(2)
        if torch.compiler.is_exporting():
            return self._bind_plainly(gate, bias)
        first, first_bias, second = self.first, self.first_bias, self.second

        def mix(gathered: Tensor) -> Tensor:
            if not torch.is_grad_enabled():
                return bias + _mixed(_hidden(gathered, first, first_bias).mul_(shares), second)
            tensors = (gathered, gate, first, first_bias, second)
            weighted: Tensor = _MixedUpdate.apply(*tensors)  # type: ignore[no-untyped-call]
            return bias + weighted

        return mix

    def _bind_plainly(
        self, gate: Float[Tensor, "objects count"], bias: Float[Tensor, "objects width"]
    ) -> Mixture:
        """The same as ordinary products, which inference engines run faster than batched ones."""
        width = self.first.shape[1]
        shares = gate.repeat_interleave(width, dim=1)
        # Copies, because loops that are recorded take no views of one tensor.
        layers = [(w.clone(), b.clone()) for w, b in zip(self.first, self.first_bias, strict=True)]
        second = self.second.flatten(0, 1)

        def mix(gathered: Tensor) -> Tensor:
            parts = zip(gathered.chunk(len(layers), dim=1), layers, strict=True)
            hidden = torch.cat([torch.addmm(b, part, w) for part, (w, b) in parts], dim=1)
            return torch.addmm(bias, hidden.relu() * shares, second)

        return mix


class _MixedUpdate(torch.autograd.Function):
    """sum_k w_ik W2_k relu(W1_k s_ik + b1_k), keeping one hidden layer instead of three.

    Plain autograd would keep both the weighted and the unweighted hidden layer at each of the
    four stages of each frame: a fifth of the memory of a whole training step.
    """

    @staticmethod
    def forward(
        ctx: Any, gathered: Tensor, gate: Tensor, first: Tensor, first_bias: Tensor, second: Tensor
    ) -> Tensor:
        hidden = _hidden(gathered, first, first_bias)
        ctx.save_for_backward(gathered, gate, first, second, hidden)
        return _mixed(hidden * gate.T.unsqueeze(2), second)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        gathered, gate, first, second, hidden = ctx.saved_tensors
        weights = gate.T.unsqueeze(2)
        grads = grad.expand(first.shape[0], -1, -1)
        grad_second = torch.bmm((hidden * weights).transpose(1, 2), grads)
        passed = torch.bmm(grads, second.transpose(1, 2))
        grad_gate = torch.linalg.vecdot(passed, hidden).T
        # The gradient of relu itself: a third of the time of a mask and a product with it.
        passed = torch.ops.aten.threshold_backward(passed.mul_(weights), hidden, 0)
        grad_first = torch.bmm(_by_prototype(gathered, first).transpose(1, 2), passed)
        grad_gathered = torch.empty_like(gathered)
        torch.bmm(passed, first.transpose(1, 2), out=_by_prototype(grad_gathered, first))
        return grad_gathered, grad_gate, grad_first, passed.sum(1, keepdim=True), grad_second


def _hidden(gathered: Tensor, first: Tensor, first_bias: Tensor) -> Tensor:
    """relu(W1_k s_ik + b1_k), as (K, objects, width)."""
    return torch.baddbmm(first_bias, _by_prototype(gathered, first), first).relu_()


def _mixed(weighted: Tensor, second: Tensor) -> Tensor:
    """The sum over prototypes of W2_k, applied to the weighted hidden layer."""
    return weighted.new_zeros(weighted.shape[1], second.shape[2]).addbmm_(weighted, second)


def _by_prototype(gathered: Tensor, first: Tensor) -> Tensor:
    """(objects, K width) seen as (K, objects, width), without a copy."""
    return gathered.view(-1, first.shape[0], first.shape[1]).transpose(0, 1)
