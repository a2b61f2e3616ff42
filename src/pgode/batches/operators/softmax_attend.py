"""sum_j a_ij w_ij v_j with a_ij = softmax_j(q_i . k_j): attention over the neighbours of a row.

With s_ij = q_i . k_j and g_i the gradient of out_i,

    ds_ij = a_ij (w_ij g_i . v_j - g_i . out_i),

since sum_j a_ij w_ij g_i . v_j = g_i . out_i. So a backward pass needs one number per row, the
logarithm of its sum of exponentials (`level`), and nothing is stored per edge.
"""

from typing import Any

import torch
from torch import Tensor

from pgode.batches.kernels import arrays, over_rows
from pgode.batches.operators import softmax_kernels
from pgode.batches.operators.rows import NO_GRADIENT, row_of_edge, save, saved


@torch.library.custom_op("pgode::softmax_attend", mutates_args=())
def softmax_attend(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> tuple[Tensor, Tensor]:
    """(out, level); both are 0 in rows without edges. No gradient passes through the level."""
    offsets, neighbours, edges, _ = senders
    rows, columns = row_of_edge(offsets, edges.shape[0]), neighbours.long()
    count = offsets.shape[0] - 1
    scores = (query[rows] * key[columns]).sum(-1)
    largest = scores.new_full((count,), -torch.inf).scatter_reduce(0, rows, scores.detach(), "amax")
    exponentials = torch.exp(scores - largest[rows])
    total = scores.new_zeros(count).index_add(0, rows, exponentials)
    shares = exponentials / total[rows] * weights[edges.long()]
    out = value.new_zeros(count, value.shape[1])
    out = out.index_add(0, rows, shares.unsqueeze(1) * value[columns])
    return out, torch.where(offsets.diff() > 0, largest + total.log(), 0.0)


@softmax_attend.register_kernel("cpu")
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> tuple[Tensor, Tensor]:
    count = senders[0].shape[0] - 1
    out, level = value.new_empty(count, value.shape[1]), query.new_empty(count)
    offsets, neighbours, edges, order = arrays(*senders)
    w, q, k, v = arrays(weights, query, key, value)
    over_rows(
        softmax_kernels.softmax_attend_rows,
        *(offsets, q.shape[1] + v.shape[1]),
        *(neighbours, edges, w, q, k, v, out.numpy(), level.numpy()),
        order=order,
    )
    return out, level


@softmax_attend.register_fake
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> tuple[Tensor, Tensor]:
    count = senders[0].shape[0] - 1
    return value.new_empty(count, value.shape[1]), query.new_empty(count)


@torch.library.custom_op("pgode::softmax_attend_backward", mutates_args=())
def softmax_attend_backward(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    level: Tensor,
    offered: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `softmax_attend` with respect to query, key and value; offered = g . out."""
    offsets, neighbours, edges, _ = senders
    rows, columns = row_of_edge(offsets, edges.shape[0]), neighbours.long()
    w = weights[edges.long()]
    shares = torch.exp((query[rows] * key[columns]).sum(-1) - level[rows])
    slope = shares * (w * (grad[rows] * value[columns]).sum(-1) - offered[rows])
    return (
        torch.zeros_like(query).index_add(0, rows, slope.unsqueeze(1) * key[columns]),
        torch.zeros_like(key).index_add(0, columns, slope.unsqueeze(1) * query[rows]),
        torch.zeros_like(value).index_add(0, columns, (shares * w).unsqueeze(1) * grad[rows]),
    )


@softmax_attend_backward.register_kernel("cpu")
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    level: Tensor,
    offered: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    found = [each.new_empty(each.shape) for each in (query, key, value)]
    given = arrays(weights, query, key, value, level, offered, grad)
    grad_query, grad_key, grad_value = (each.numpy() for each in found)
    channels = query.shape[1] + value.shape[1]
    offsets, *rows, order = arrays(*senders)
    over_rows(
        softmax_kernels.query_gradient_rows,
        *(offsets, channels),
        *(*rows, *given, grad_query),
        order=order,
    )
    offsets, *rows, order = arrays(*receivers)
    over_rows(
        softmax_kernels.key_and_value_gradient_rows,
        *(offsets, channels),
        *(*rows, *given, grad_key, grad_value),
        order=order,
    )
    return found[0], found[1], found[2]


@softmax_attend_backward.register_fake
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    weights: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    level: Tensor,
    offered: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    return query.new_empty(query.shape), key.new_empty(key.shape), value.new_empty(value.shape)


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    """Save both outputs beside the inputs."""
    save(ctx, (*inputs, *output), output[0])


def _gradients(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Any, ...]:
    senders, receivers, (*tensors, out, level) = saved(ctx)
    given = (*tensors, level, (grad * out).sum(1), grad)
    return (*NO_GRADIENT, None, *softmax_attend_backward(senders, receivers, *given))


softmax_attend.register_autograd(_gradients, setup_context=_save)
