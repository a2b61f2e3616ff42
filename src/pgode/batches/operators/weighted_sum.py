"""sum_j w_ij b_j, with constant weights."""

from typing import Any

import torch
from torch import Tensor

from pgode.batches import kernels
from pgode.batches.kernels import arrays
from pgode.batches.operators.rows import NO_GRADIENT, row_of_edge, save, saved


@torch.library.custom_op("pgode::weighted_sum", mutates_args=())
def weighted_sum(
    senders: list[Tensor], receivers: list[Tensor], weights: Tensor, send: Tensor
) -> Tensor:
    """out_i = sum_j weights_ij send_j."""
    offsets, neighbours, edges, _ = senders
    terms = weights[edges.long()].unsqueeze(1) * send[neighbours.long()]
    out = send.new_zeros(offsets.shape[0] - 1, send.shape[1])
    return out.index_add_(0, row_of_edge(offsets, edges.shape[0]), terms)


@weighted_sum.register_kernel("cpu")
def _(senders: list[Tensor], receivers: list[Tensor], weights: Tensor, send: Tensor) -> Tensor:
    out = send.new_empty(senders[0].shape[0] - 1, send.shape[1])
    offsets, neighbours, edges, order = arrays(*senders)
    w, b = arrays(weights, send)
    kernels.over_rows(
        kernels.weighted_sum_rows,
        *(offsets, b.shape[1], neighbours, edges, w, b, out.numpy()),
        order=order,
    )
    return out


@weighted_sum.register_fake
def _(senders: list[Tensor], receivers: list[Tensor], weights: Tensor, send: Tensor) -> Tensor:
    return send.new_empty(senders[0].shape[0] - 1, send.shape[1])


def _weighted_sum_gradients(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    senders, receivers, (weights, _) = saved(ctx)
    return *NO_GRADIENT, None, weighted_sum(receivers, senders, weights, grad)


weighted_sum.register_autograd(_weighted_sum_gradients, setup_context=save)
