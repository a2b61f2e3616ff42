"""One small nonlinear problem whose derivative depends on the time and holds a parameter."""

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn


class DrivenPendulum(nn.Module):
    """Angle and speed of a damped pendulum that is driven periodically; rows are independent."""

    def __init__(self) -> None:
        super().__init__()
        self.stiffness = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))

    def forward(
        self, time: Float[Tensor, " rows"], z: Float[Tensor, "rows 2"]
    ) -> Float[Tensor, "rows 2"]:
        """Evaluate dz/dt."""
        angle, speed = z.unbind(dim=1)
        push = 0.5 * torch.cos(2 * time) - 0.1 * speed
        return torch.stack([speed, push - self.stiffness * torch.sin(angle)], dim=1)


@pytest.fixture
def pendulum() -> DrivenPendulum:
    return DrivenPendulum()


@pytest.fixture
def initial() -> Float[Tensor, "3 2"]:
    return torch.tensor([[0.4, -0.2], [1.5, 0.3], [-0.8, 1.1]], dtype=torch.float64)


@pytest.fixture
def start() -> Float[Tensor, " 3"]:
    return torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64)


@pytest.fixture
def uneven(start: Float[Tensor, " 3"]) -> Float[Tensor, "3 5"]:
    """Times with different gaps in every row; the first output of row 0 is at its start."""
    gaps = [[0.0, 0.31, 0.02, 0.17, 0.4], [0.13, 0.09, 0.5, 0.01, 0.22], [0.3, 0.3, 0.1, 0.6, 0.05]]
    return start[:, None] + torch.tensor(gaps, dtype=torch.float64).cumsum(dim=1)
