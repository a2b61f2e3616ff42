"""Values per edge: summed over a row, or spread from it."""

from typing import Any

import torch
from torch import Tensor

from pgode.batches import kernels
from pgode.batches.kernels import arrays
from pgode.batches.operators.rows import row_of_edge


@torch.library.custom_op("pgode::edge_sum", mutates_args=())
def edge_sum(rows: list[Tensor], values: Tensor) -> Tensor:
    """out_i = sum of the values of the edges of row i; values are in the order of the edges."""
    offsets, _, edges, _ = rows
    out = values.new_zeros(offsets.shape[0] - 1, values.shape[1])
    return out.index_add_(0, row_of_edge(offsets, edges.shape[0]), values[edges.long()])


@edge_sum.register_kernel("cpu")
def _(rows: list[Tensor], values: Tensor) -> Tensor:
    out = values.new_empty(rows[0].shape[0] - 1, values.shape[1])
    offsets, _, edges, _ = arrays(*rows)
    (v,) = arrays(values)
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
    offsets, _, edges, _ = arrays(*rows)
    (v,) = arrays(x)
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
