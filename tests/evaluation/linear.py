"""Linear right-hand sides of two systems, of three objects and of two, for tests of robustness."""

from collections.abc import Callable

import torch
from torch import Tensor

SYSTEM = torch.tensor([0, 0, 0, 1, 1])


def seeded(seed: int = 0) -> torch.Generator:
    """Random numbers that a test can draw again."""
    return torch.Generator().manual_seed(seed)


def random_matrices() -> list[Tensor]:
    """One for each system, of all numbers of its state."""
    return [torch.randn(n, n, generator=seeded(n), dtype=torch.float64) for n in (12, 8)]


def linear(matrices: list[Tensor]) -> Callable[[Tensor], Tensor]:
    """Z -> M Z in each system, which couples all of its objects."""

    def field(state: Tensor) -> Tensor:
        parts = [state[k == SYSTEM].flatten() for k in range(2)]
        return torch.cat([(m @ p).view(-1, 4) for m, p in zip(matrices, parts, strict=True)])

    return field
