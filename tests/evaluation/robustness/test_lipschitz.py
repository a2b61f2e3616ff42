"""Constants of known matrices, and the bound worked out by hand."""

import pytest
import torch
from tests.evaluation.linear import SYSTEM, linear, random_matrices, seeded
from torch import Tensor
from torch.testing import assert_close

from pgode.evaluation.robustness.lipschitz import local_lipschitz, system_norms, theorem_rate


@pytest.fixture
def matrices() -> list[Tensor]:
    return random_matrices()


def test_constant_of_a_linear_field_is_the_spectral_norm_of_each_system(matrices) -> None:
    state = torch.randn(5, 4, dtype=torch.float64)
    expected = torch.stack([torch.linalg.matrix_norm(m, 2) for m in matrices])
    estimate = local_lipschitz(linear(matrices), state, SYSTEM, seeded())
    assert_close(estimate, expected, rtol=0.05, atol=0)
    converged = local_lipschitz(linear(matrices), state, SYSTEM, seeded(), pairs=300)
    assert_close(converged, expected, rtol=1e-5, atol=0)
    assert (converged <= expected * (1 + 1e-9)).all()


def test_constant_is_local() -> None:
    """For z^3 it is 3 z^2 at the largest component; for a constant field it is 0."""
    state = torch.tensor([[0.5, 2.0], [1.0, 1.0], [0.0, 0.1], [3.0, 0.0], [0.0, 1.0]]).double()
    constants = local_lipschitz(lambda z: z**3, state, SYSTEM, seeded(), pairs=60)
    assert_close(constants, torch.tensor([12.0, 27.0]).double(), rtol=1e-3, atol=0)
    assert local_lipschitz(lambda z: 0 * z, state, SYSTEM, seeded()).tolist() == [0, 0]


def test_rate_of_the_theorem_by_hand() -> None:
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0]])
    constants = torch.tensor([[2.0, 4.0], [6.0, 8.0]])
    # System 0: 2, 4 and 6; system 1: 1 + 6 and 4.
    expected = torch.tensor([4 + 16 + 36.0, 49 + 16.0]).sqrt()
    assert_close(theorem_rate(weights, constants, SYSTEM), expected)
    single = theorem_rate(torch.ones(5, 1), torch.tensor([[3.0, 5.0]]), SYSTEM)
    assert_close(single, torch.tensor([3 * 3**0.5, 5 * 2**0.5]))  # sqrt(N) L


def test_norm_of_a_system_is_over_all_its_objects() -> None:
    values = torch.tensor([[3.0, 0], [0, 4], [0, 0], [1, 1], [1, 1]])
    assert_close(system_norms(values, SYSTEM, 2), torch.tensor([5.0, 2.0]))
