"""Linear right-hand sides for tests of robustness: a system of three objects and one of two."""

from collections.abc import Callable

import torch
from torch import Tensor

SYSTEM = torch.tensor([0, 0, 0, 1, 1])


def seeded(seed: int = 0) -> torch.Generator:
    """A generator whose numbers a test can draw again."""
    return torch.Generator().manual_seed(seed)


def random_matrices() -> list[Tensor]:
    """One for each system, acting on the states of all its objects."""
    return [torch.randn(n, n, generator=seeded(n), dtype=torch.float64) for n in (12, 8)]


def linear(matrices: list[Tensor]) -> Callable[[Tensor], Tensor]:
    """Z -> M Z in each system, with all of its objects coupled."""

    def field(state: Tensor) -> Tensor:
        parts = [state[k == SYSTEM].flatten() for k in range(2)]
        return torch.cat([(m @ p).view(-1, 4) for m, p in zip(matrices, parts, strict=True)])

    return field
