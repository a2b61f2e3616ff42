import pytest
import torch
from torch.testing import assert_close

from pgode.ode import METHODS, SolverConfig, solve
from pgode.ode.intervals import Intervals
from pgode.ode.methods import Adaptive, names
from pgode.runtime.errors import InputError


def steps(times, step=0.1, start=0.0):
    rows = torch.as_tensor(times)
    rows = rows[None] if rows.ndim == 1 else rows
    begin = torch.full((rows.shape[0],), start, dtype=rows.dtype)
    return Intervals.between(begin, rows, None).steps(step)


@pytest.mark.parametrize("method", ["euler", "midpoint", "rk4"])
def test_rows_with_times_of_their_own_equal_rows_solved_alone(pendulum, initial, start, method):
    """Every gap is one step, since rows of a batch share the number of steps of an interval."""
    gaps = torch.tensor([[0.05, 0.1, 0.08], [0.1, 0.02, 0.1], [0.07, 0.07, 0.01]]).double()
    times = start[:, None] + gaps.cumsum(dim=1)
    config = SolverConfig(method=method, step=0.1)
    together = solve(pendulum, initial, start, times, config).states
    for row in range(3):
        one = slice(row, row + 1)
        alone = solve(pendulum, initial[one], start[one], times[one], config).states
        assert_close(together[:, one], alone, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("method", names(Adaptive))
def test_rows_solved_adaptively_equal_rows_solved_alone_within_tolerance(
    pendulum, initial, start, uneven, method
):
    config = SolverConfig(method=method, rtol=1e-6, atol=1e-6, max_evaluations=100_000)
    together = solve(pendulum, initial, start, uneven, config).states
    for row in range(3):
        one = slice(row, row + 1)
        alone = solve(pendulum, initial[one], start[one], uneven[one], config).states
        assert_close(together[:, one], alone, rtol=0, atol=1e-3 if method == "fehlberg2" else 3e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_row_whose_time_stands_still_keeps_its_state_exactly(pendulum, initial, start, method):
    times = start[:, None] + torch.tensor([[0.1, 0.2], [0.1, 0.1], [0.0, 0.0]]).double()
    states = solve(pendulum, initial, start, times, SolverConfig(method=method)).states
    assert torch.equal(states[1, 1], states[0, 1])
    assert torch.equal(states[:, 2], initial[2].expand(2, -1))
    assert not torch.equal(states[1, 0], states[0, 0])


@pytest.mark.parametrize("method", METHODS)
def test_an_interval_in_which_no_row_moves_costs_nothing(pendulum, initial, start, method):
    solution = solve(
        pendulum, initial, start, start[:, None].expand(-1, 2), SolverConfig(method=method)
    )
    assert torch.equal(solution.states, initial.expand(2, -1, -1))
    assert (solution.steps, solution.evaluations) == (0, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(1, 97, dtype=torch.float32) * 0.1,
        lambda: torch.full((96,), 0.1, dtype=torch.float32).cumsum(dim=0),
        lambda: torch.arange(1, 97, dtype=torch.float32) / 10,
        lambda: (torch.arange(1, 97, dtype=torch.float32) * 0.1).double(),
        lambda: torch.arange(1, 97, dtype=torch.float64) * (0.1 + 1e-9),
    ],
)
def test_frames_cost_exactly_one_step_each_in_spite_of_rounding(make):
    assert steps(make()) == (1,) * 96


def test_frames_cost_one_step_after_a_late_start():
    times = torch.arange(51, 97, dtype=torch.float32) * 0.1
    assert steps(times, start=5.0) == (1,) * 46


def test_a_long_interval_is_cut_into_equal_steps_none_longer_than_step():
    assert steps([0.1, 0.3, 0.61, 0.62]) == (1, 2, 4, 1)
    assert steps([[0.1, 0.11], [0.05, 0.55]]) == (1, 5)
    assert steps([0.2], step=0.25) == (1,)
    assert steps([1.0], step=1e-3) == (1000,)


def test_rows_that_differ_by_rounding_alone_take_the_same_step():
    start = torch.tensor([0.0, 3.1], dtype=torch.float32)
    times = torch.stack([torch.tensor([0.1, 0.2]), torch.tensor([3.2, 3.3])])
    intervals = Intervals.between(start, times, None)
    assert intervals.shortest[0] != intervals.longest[0]
    assert intervals.uniform(0) and intervals.uniform(1)
    padded = Intervals.between(start, torch.tensor([[0.1], [3.1]]), None)
    assert not padded.uniform(0)


def test_decreasing_times_are_refused_with_the_system_and_both_times(pendulum, initial, start):
    times = start[:, None] + torch.tensor(
        [[0.1, 0.2, 0.3], [0.1, 0.4, 0.35], [0.1, 0.2, 0.3]], dtype=torch.float64
    )
    with pytest.raises(InputError, match=r"System 12 .*output 2 is at time 0\.6.*0\.65.*sort"):
        solve(pendulum, initial, start, times, SolverConfig(), torch.tensor([4, 12, 12]))


def test_times_before_the_start_are_refused(pendulum, initial, start):
    times = start[:, None] + torch.tensor([[0.1], [0.1], [-0.5]], dtype=torch.float64)
    with pytest.raises(
        InputError, match=r"Row 2 .*output 0 is at time 0\.5, before its start at time 1"
    ):
        solve(pendulum, initial, start, times, SolverConfig())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_times_that_are_not_finite_are_refused(pendulum, initial, start, value):
    times = start[:, None] + torch.tensor(
        [[0.1, 0.2], [0.1, value], [0.1, 0.2]], dtype=torch.float64
    )
    with pytest.raises(InputError, match=r"Row 1 cannot be solved to output 1.*repeating its last"):
        solve(pendulum, initial, start, times, SolverConfig())
