"""The Jensen-Shannon estimate (Eq. 6-7)."""

import math

import pytest
import torch
from torch.nn.functional import softplus
from torch.testing import assert_close

from pgode.models.pgode.mutual_information import MutualInformation, same_system

INDEPENDENT = -2 * math.log(2)


def constant_critic(value: float) -> MutualInformation:
    """T(x, y) = value for all x and y."""
    critic = MutualInformation(3, 2, 4)
    # The product of four equal entries each, divided by the root of 4.
    for side, number in ((critic.left, value / 2), (critic.right, 1.0)):
        torch.nn.init.zeros_(side.second.weight)
        torch.nn.init.constant_(side.second.bias, number)
    return critic


def test_estimate_is_the_mean_over_pairs_and_the_mean_over_others():
    critic = MutualInformation(3, 2, 4).double()
    x, y = torch.randn(3, 3, dtype=torch.float64), torch.randn(5, 2, dtype=torch.float64)
    owner = torch.tensor([0, 0, 1, 2, 2])
    positive, negative = [], []
    for i in range(3):
        for j in range(5):
            score = critic.left(x[i]) @ critic.right(y[j]) / 4**0.5
            (positive if owner[j] == i else negative).append(
                softplus(-score) if owner[j] == i else softplus(score)
            )
    assert (len(positive), len(negative)) == (5, 10)
    expected = -torch.stack(positive).mean() - torch.stack(negative).mean()
    assert_close(critic(x, y, same_system(torch.arange(3), owner)), expected)


def test_estimate_of_a_critic_that_is_always_zero_is_minus_two_log_two():
    critic = constant_critic(0.0)
    estimate = critic(torch.randn(6, 3), torch.randn(6, 2), torch.eye(6, dtype=torch.bool))
    assert estimate.item() == pytest.approx(INDEPENDENT)


@pytest.mark.parametrize("value", [-1.0, 0.5, 3.0])
def test_no_other_constant_critic_does_better(value):
    critic = constant_critic(value)
    estimate = critic(torch.randn(6, 3), torch.randn(6, 2), torch.eye(6, dtype=torch.bool))
    expected = -math.log1p(math.exp(-value)) - math.log1p(math.exp(value))
    assert estimate.item() == pytest.approx(expected, rel=1e-5)
    assert expected < INDEPENDENT


def ascended(x: torch.Tensor, y: torch.Tensor, fresh: tuple[torch.Tensor, torch.Tensor]) -> float:
    """The estimate on fresh data after a few steps of ascent on x and y."""
    critic = MutualInformation(x.shape[1], y.shape[1], 16)
    optimiser = torch.optim.Adam(critic.parameters(), lr=0.01, maximize=True)
    pairs = torch.eye(len(x), dtype=torch.bool)
    for _ in range(60):
        optimiser.zero_grad()
        critic(x, y, pairs).backward()
        optimiser.step()
    with torch.no_grad():
        return critic(*fresh, torch.eye(len(fresh[0]), dtype=torch.bool)).item()


def test_estimate_rises_for_dependent_data_and_not_for_independent_data():
    x, other = torch.randn(512, 2), torch.randn(256, 2)
    dependent = ascended(x[:256], x[:256] * 2, (x[256:], x[256:] * 2))
    independent = ascended(x[:256], other, (x[256:], torch.randn(256, 2)))
    assert dependent > INDEPENDENT + 0.3
    assert independent < INDEPENDENT + 0.02


def test_estimate_rises_with_the_scores_of_pairs_and_falls_with_those_of_others():
    critic = MutualInformation(2, 2, 2)
    critic.left, critic.right = torch.nn.Identity(), torch.nn.Identity()
    x = torch.randn(3, 2)
    y = torch.randn(3, 2)
    scores = (x @ y.T / 2**0.5).requires_grad_()
    together = torch.eye(3)
    value = -(softplus(-scores) * together).sum() / 3
    value = value - (softplus(scores) * (1 - together)).sum() / 6
    assert_close(critic(x, y, together.bool()), value)
    (slope,) = torch.autograd.grad(value, scores)
    assert (slope[together.bool()] > 0).all()
    assert (slope[~together.bool()] < 0).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_batch_without_pairs_or_without_others_gives_a_finite_estimate(rows):
    critic = MutualInformation(3, 2, 4)
    pairs = torch.eye(rows, dtype=torch.bool)
    estimate = critic(torch.randn(rows, 3), torch.randn(rows, 2), pairs)
    estimate.backward()
    assert torch.isfinite(estimate)
    assert all(torch.isfinite(p.grad).all() for p in critic.parameters())
    if rows == 0:
        assert estimate.item() == 0


def test_same_system_marks_equal_numbers():
    marked = same_system(torch.tensor([0, 2]), torch.tensor([0, 1, 2, 0]))
    assert marked.tolist() == [[True, False, False, True], [False, False, True, False]]
