"""Trading time for memory: inner results are computed again in the backward pass."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from pgode.runtime.allocation import give_back_if_scarce


def checkpointed(part: Callable[..., Tensor], *inputs: Any) -> Tensor:
    """The output of `part`, without keeping intermediate results.

    `part` must not draw random numbers: it runs a second time for the gradients.
    """
    give_back_if_scarce()  # Work that is recomputed is large: between two steps is too late.
    if not torch.is_grad_enabled():
        return part(*inputs)
    output: Tensor = checkpoint(
        part, *inputs, use_reentrant=False, preserve_rng_state=False, determinism_check="none"
    )
    return output
