"""Torch operators over compressed graph rows: numba kernels on the CPU, plain torch elsewhere.

Each takes the graph twice, as rows of senders and as rows of receivers (the reversed list), both
as [offsets, neighbours, edge numbers, order], with the order in which kernels take the rows. A
backward pass then only needs the reversed list: the gradient of `weighted_sum` is a `weighted_sum`,
and the three gradients of `attend` are `attend`s.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pgode.batches import kernels
from pgode.batches.kernels import arrays as _numpy
from pgode.batches.kernels import neighbour_sum_now


def row_of_edge(offsets: Tensor, edges: int) -> Tensor:
    """The row that each of so many edges belongs to."""
    rows = torch.arange(offsets.shape[0] - 1, device=offsets.device)
    return torch.repeat_interleave(rows, offsets.diff().long(), output_size=edges)


# --- sum_j relu(a_i + b_j + e_ij c) ---------------------------------------------------------------


@torch.library.custom_op("pgode::neighbour_sum", mutates_args=())
def neighbour_sum(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
) -> Tensor:
    """out_i = sum_j relu(receive_i + send_j + attributes_ij edge)."""
    rows, columns = row_of_edge(senders[0], senders[1].shape[0]), senders[1].long()
    messages = torch.relu(receive[rows] + send[columns] + attributes @ edge)
    return torch.zeros_like(receive).index_add_(0, rows, messages)


@neighbour_sum.register_kernel("cpu")
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
) -> Tensor:
    offsets, neighbours, _, order = senders
    return neighbour_sum_now(_numpy(offsets, order, neighbours, attributes), receive, send, edge)


@neighbour_sum.register_fake
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
) -> Tensor:
    return torch.empty_like(receive)


@torch.library.custom_op("pgode::neighbour_sum_backward", mutates_args=())
def neighbour_sum_backward(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of `neighbour_sum` with respect to receive, send and edge."""
    rows, columns = row_of_edge(senders[0], senders[1].shape[0]), senders[1].long()
    passed = grad[rows] * (receive[rows] + send[columns] + attributes @ edge > 0)
    return (
        torch.zeros_like(receive).index_add_(0, rows, passed),
        torch.zeros_like(send).index_add_(0, columns, passed),
        attributes.T @ passed,
    )


@neighbour_sum_backward.register_kernel("cpu")
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    offsets, neighbours, _, order = _numpy(*senders)
    e, a, b, c, g = _numpy(attributes, receive, send, edge, grad)
    channels = a.shape[1]
    grad_receive, grad_send = np.empty_like(a), np.empty_like(b)
    shares = np.zeros((kernels.parts_for(offsets, channels), *c.shape), c.dtype)
    kernels.over_rows(
        kernels.neighbour_sum_receiver_gradient,
        *(offsets, channels, neighbours, e, a, b, c, g, grad_receive),
        order=order,
        shares=shares,
    )
    offsets, *reverse, order = _numpy(*receivers)
    kernels.over_rows(
        kernels.neighbour_sum_sender_gradient,
        *(offsets, channels, *reverse, e, a, b, c, g, grad_send),
        order=order,
    )
    return (
        torch.from_numpy(grad_receive),
        torch.from_numpy(grad_send),
        torch.from_numpy(shares.sum(0)),
    )


@neighbour_sum_backward.register_fake
def _(
    senders: list[Tensor],
    receivers: list[Tensor],
    attributes: Tensor,
    receive: Tensor,
    send: Tensor,
    edge: Tensor,
    grad: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(receive), torch.empty_like(send), torch.empty_like(edge)


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save the inputs: none of them is per edge, apart from the graph itself."""
    senders, receivers, *tensors = inputs
    ctx.save_for_backward(*senders, *receivers, *tensors)


def _saved(ctx: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    saved = list(ctx.saved_tensors)
    return saved[:4], saved[4:8], saved[8:]


_NO_GRADIENT = ([None] * 4, [None] * 4)
"""Gradients of the two lists of integer rows."""


def _neighbour_sum_gradients(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    senders, receivers, tensors = _saved(ctx)
    return (*_NO_GRADIENT, None, *neighbour_sum_backward(senders, receivers, *tensors, grad))


neighbour_sum.register_autograd(_neighbour_sum_gradients, setup_context=_save)


# --- sum_j w_ij b_j -------------------------------------------------------------------------------


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
    offsets, neighbours, edges, order = _numpy(*senders)
    w, b = _numpy(weights, send)
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
    senders, receivers, (weights, _) = _saved(ctx)
    return *_NO_GRADIENT, None, weighted_sum(receivers, senders, weights, grad)


weighted_sum.register_autograd(_weighted_sum_gradients, setup_context=_save)


# --- sum_j w_ij (q_i . k_j) v_j -------------------------------------------------------------------


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
    offsets, neighbours, edges, order = _numpy(*senders)
    w, q, k, v = _numpy(weights, query, key, value)
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
    senders, receivers, (weights, query, key, value) = _saved(ctx)
    return (
        *_NO_GRADIENT,
        None,
        attend(senders, receivers, weights, grad, value, key),
        attend(receivers, senders, weights, value, grad, query),
        attend(receivers, senders, weights, key, query, grad),
    )


attend.register_autograd(_attend_gradients, setup_context=_save)


# --- values per edge: summed over a row, or spread from it ----------------------------------------


@torch.library.custom_op("pgode::edge_sum", mutates_args=())
def edge_sum(rows: list[Tensor], values: Tensor) -> Tensor:
    """out_i = sum of the values of the edges of row i; values are in the order of the edges."""
    offsets, _, edges, _ = rows
    out = values.new_zeros(offsets.shape[0] - 1, values.shape[1])
    return out.index_add_(0, row_of_edge(offsets, edges.shape[0]), values[edges.long()])


@edge_sum.register_kernel("cpu")
def _(rows: list[Tensor], values: Tensor) -> Tensor:
    out = values.new_empty(rows[0].shape[0] - 1, values.shape[1])
    offsets, _, edges, _ = _numpy(*rows)
    (v,) = _numpy(values)
    kernels.over_rows(kernels.edge_sum_rows, offsets, v.shape[1], edges, v, out.numpy())
    return out


@edge_sum.register_fake
def _(rows: list[Tensor], values: Tensor) -> Tensor:
    return values.new_empty(rows[0].shape[0] - 1, values.shape[1])


@torch.library.custom_op("pgode::spread", mutates_args=())
def spread(rows: list[Tensor], x: Tensor) -> Tensor:
    """out_e = x_i for every edge e of row i."""
    offsets, _, edges, _ = rows
    out = x.new_empty(edges.shape[0], x.shape[1])
    return out.index_copy_(0, edges.long(), x[row_of_edge(offsets, edges.shape[0])])


@spread.register_kernel("cpu")
def _(rows: list[Tensor], x: Tensor) -> Tensor:
    out = x.new_empty(rows[2].shape[0], x.shape[1])
    offsets, _, edges, _ = _numpy(*rows)
    (v,) = _numpy(x)
    kernels.over_rows(kernels.spread_rows, offsets, v.shape[1], edges, v, out.numpy())
    return out


@spread.register_fake
def _(rows: list[Tensor], x: Tensor) -> Tensor:
    return x.new_empty(rows[2].shape[0], x.shape[1])


def _save_rows(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[0])


edge_sum.register_autograd(
    lambda ctx, grad: ([None] * 4, spread(list(ctx.saved_tensors), grad)), setup_context=_save_rows
)
spread.register_autograd(
    lambda ctx, grad: ([None] * 4, edge_sum(list(ctx.saved_tensors), grad)),
    setup_context=_save_rows,
)
