"""Solves over many frames: what is finite is kept, and the budget grows with the time."""

import pytest
import torch

from pgode.ode import SolverConfig, solve
from pgode.ode.lasting import lasting_solves
from pgode.runtime.errors import SolverError

CONFIG = SolverConfig(frame_time=0.1, step=0.1)


def square(time: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
    """z' = z^2: 1/(1/z - t), which ends at t = 1/z."""
    return z**2


def states(starts: list[float], frames: int) -> torch.Tensor:
    initial = torch.tensor(starts, dtype=torch.float64)[:, None]
    times = (0.1 * torch.arange(1, frames + 1, dtype=torch.float64)).expand(len(starts), -1)
    begin = torch.zeros(len(starts), dtype=torch.float64)
    return solve(square, initial, begin, times, CONFIG).states[..., 0]


def test_a_row_that_diverges_is_nan_from_there_on_and_others_are_kept() -> None:
    with lasting_solves():
        both = states([1.0, -1.0], 60)
    alone = states([-1.0], 60)[:, 0]
    torch.testing.assert_close(both[:, 1], alone, rtol=0, atol=0)
    finite = torch.isfinite(both[:, 0])
    first = int(finite.sum())
    assert 9 <= first < 60
    assert finite[:first].all()
    assert both[first:, 0].isnan().all()


def test_without_it_a_state_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(SolverError, match="stopped being finite"):
        states([1.0, -1.0], 60)
    with lasting_solves():
        states([1.0], 60)
    with pytest.raises(SolverError, match="stopped being finite"):
        states([1.0], 60)


def test_the_budget_of_a_long_solve_grows_with_its_frames() -> None:
    with pytest.raises(SolverError, match="max_evaluations is 10000"):
        states([-1.0], 3000)
    with lasting_solves():
        found = states([-1.0], 3000)[:, 0]
    times = 0.1 * torch.arange(1, 3001, dtype=torch.float64)
    torch.testing.assert_close(found, -1 / (1 + times), rtol=1e-4, atol=0)
