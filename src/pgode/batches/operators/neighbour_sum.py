"""sum_j relu(a_i + b_j + e_ij c): Eq. 9 with its linear map split."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pgode.batches import kernels
from pgode.batches.kernels import arrays, neighbour_sum_now
from pgode.batches.operators.rows import NO_GRADIENT, row_of_edge, save, saved


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
    return neighbour_sum_now(arrays(offsets, order, neighbours, attributes), receive, send, edge)


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
    offsets, neighbours, _, order = arrays(*senders)
    e, a, b, c, g = arrays(attributes, receive, send, edge, grad)
    channels = a.shape[1]
    grad_receive, grad_send = np.empty_like(a), np.empty_like(b)
    shares = np.zeros((kernels.parts_for(offsets, channels), *c.shape), c.dtype)
    kernels.over_rows(
        kernels.neighbour_sum_receiver_gradient,
        *(offsets, channels, neighbours, e, a, b, c, g, grad_receive),
        order=order,
        shares=shares,
    )
    offsets, *reverse, order = arrays(*receivers)
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


def _neighbour_sum_gradients(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    senders, receivers, tensors = saved(ctx)
    return (*NO_GRADIENT, None, *neighbour_sum_backward(senders, receivers, *tensors, grad))


neighbour_sum.register_autograd(_neighbour_sum_gradients, setup_context=save)
