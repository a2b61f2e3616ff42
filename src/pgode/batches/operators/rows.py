"""What all operators share: the rows of edges, and the inputs kept for a backward pass."""

from typing import Any

import torch
from torch import Tensor


def row_of_edge(offsets: Tensor, edges: int) -> Tensor:
    """The row that each of so many edges belongs to."""
    rows = torch.arange(offsets.shape[0] - 1, device=offsets.device)
    return torch.repeat_interleave(rows, offsets.diff().long(), output_size=edges)


def save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    """Save the inputs: none of them is per edge, apart from the graph itself."""
    senders, receivers, *tensors = inputs
    ctx.save_for_backward(*senders, *receivers, *tensors)


def saved(ctx: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Rows of senders, rows of receivers, and the tensors that `save` kept."""
    kept = list(ctx.saved_tensors)
    return kept[:4], kept[4:8], kept[8:]


NO_GRADIENT = ([None] * 4, [None] * 4)
"""Gradients of the two lists of integer rows."""
