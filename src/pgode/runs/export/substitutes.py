"""Torch functions that ONNX has no operator for, by others that it has.

Models call them as they are. While a program is recorded, `Substitutes` puts in each one's place
what is written here: the same numbers, at a cost that matters only for large arrays.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pgode.runs.export.small_matrices import det, svd


class Ordered(NamedTuple):
    """What `cummax` and `cummin` return; nobody asks for the indices here."""

    values: Tensor


def bincount(x: Tensor, weights: None = None, minlength: int = 0) -> Tensor:
    """Counts of 0, ..., minlength - 1, which are all the values there are."""
    return x.new_zeros(minlength).index_add(0, x, torch.ones_like(x))


def searchsorted(ordered: Tensor, values: Tensor, *, right: bool = False) -> Tensor:
    """The place of each value: how many of the ordered numbers are before it."""
    all_of, each = ordered.unsqueeze(-2), values.unsqueeze(-1)
    return (all_of <= each if right else all_of < each).sum(-1)


def cummax(x: Tensor, dim: int) -> Ordered:
    """The largest number so far; the axis has a fixed size, so it is unrolled."""
    return _running(torch.maximum, x, dim)


def cummin(x: Tensor, dim: int) -> Ordered:
    """The smallest number so far."""
    return _running(torch.minimum, x, dim)


def _running(better: Callable[[Tensor, Tensor], Tensor], x: Tensor, dim: int) -> Ordered:
    found = list(x.unbind(dim)[:1])
    for each in x.unbind(dim)[1:]:
        found.append(better(found[-1], each))
    return Ordered(torch.stack(found, dim))


TABLE: Mapping[Any, Callable[..., Any]] = {
    torch.bincount: bincount,
    torch.searchsorted: searchsorted,
    torch.cummax: cummax,
    torch.cummin: cummin,
    Tensor.cummax: cummax,
    Tensor.cummin: cummin,
    torch.linalg.svd: svd,
    torch.linalg.det: det,
}


class Substitutes(TorchFunctionMode):
    """While it is entered, functions of the table are replaced."""

    def __torch_function__(
        self,
        func: Any,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call the substitute, or the function itself if it has none."""
        return TABLE.get(func, func)(*args, **(kwargs or {}))
