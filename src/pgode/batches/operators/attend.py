"""sum_j w_ij (q_i . k_j) v_j: attention without softmax."""

from typing import Any

import torch
from torch import Tensor

from pgode.batches import kernels
from pgode.batches.kernels import arrays
from pgode.batches.operators.rows import NO_GRADIENT, row_of_edge, save, saved


@torch.library.custom_op("pgode::attend", mutates_args=())
def attend(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> Tensor:
    """out_i = sum_j weights_ij (query_i . key_j) value_j."""
    offsets, neighbours, edges, _ = senders
    rows, columns = row_of_edge(offsets, edges.shape[0]), neighbours.long()
    scores = (query[rows] * key[columns]).sum(-1) * weights[edges.long()]
    out = value.new_zeros(offsets.shape[0] - 1, value.shape[1])
    return out.index_add_(0, rows, scores.unsqueeze(1) * value[columns])


@attend.register_kernel("cpu")
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> Tensor:
    out = value.new_empty(senders[0].shape[0] - 1, value.shape[1])
    offsets, neighbours, edges, order = arrays(*senders)
    w, q, k, v = arrays(weights, query, key, value)
    kernels.over_rows(
        kernels.attend_rows,
        *(offsets, q.shape[1] + v.shape[1], neighbours, edges, w, q, k, v, out.numpy()),
        order=order,
    )
    return out


@attend.register_fake
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> Tensor:
    return value.new_empty(senders[0].shape[0] - 1, value.shape[1])


def _attend_gradients(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    senders, receivers, (weights, query, key, value) = saved(ctx)
    return (
        *NO_GRADIENT,
        None,
        attend(senders, receivers, weights, grad, value, key),
        attend(receivers, senders, weights, value, grad, query),
        attend(receivers, senders, weights, key, query, grad),
    )


attend.register_autograd(_attend_gradients, setup_context=save)
