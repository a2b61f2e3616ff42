import itertools
import math

import pytest
import torch
from torch.testing import assert_close

from pgode.ode import SolverConfig, solve
from pgode.ode.methods import FixedStep, names

FIXED = names(FixedStep)


@pytest.mark.parametrize("method, order", [("euler", 1), ("midpoint", 2), ("rk4", 4)])
def test_halving_the_step_divides_the_error_by_two_to_the_order(
    pendulum, initial, start, method, order
):
    times = start[:, None] + 1.6
    exact = solve(pendulum, initial, start, times, SolverConfig(step=0.001)).states
    errors = [
        (
            solve(pendulum, initial, start, times, SolverConfig(method=method, step=step)).states
            - exact
        )
        .abs()
        .max()
        .item()
        for step in (0.1, 0.05, 0.025)
    ]
    for coarse, fine in itertools.pairwise(errors):
        assert abs(math.log2(coarse / fine) - order) < 0.2


@pytest.mark.parametrize(
    "method, factor",
    [
        ("euler", 1 - 0.1),
        ("midpoint", 1 - 0.1 + 0.1**2 / 2),
        ("rk4", 1 - 0.1 + 0.1**2 / 2 - 0.1**3 / 6 + 0.1**4 / 24),
    ],
)
@pytest.mark.parametrize("second", [0.1, 0.05])
def test_one_step_of_decay_is_the_taylor_polynomial_of_the_order(method, factor, second):
    """Also beside a row that takes another step, which is the path with a length per row."""
    z = torch.tensor([[3.0], [1.0]], dtype=torch.float64)
    times = torch.tensor([[0.1], [second]], dtype=torch.float64)
    solution = solve(lambda t, z: -z, z, torch.zeros(2), times, SolverConfig(method=method))
    assert_close(solution.states[0, 0, 0].item(), 3 * factor, rtol=1e-15, atol=0)


@pytest.mark.parametrize(
    "method, stages",
    [
        ("euler", [0.0]),
        ("midpoint", [0.0, 0.5]),
        ("rk4", [0.0, 0.5, 0.5, 1.0]),
    ],
)
def test_the_derivative_is_given_the_time_of_every_row(method, stages):
    seen = []

    def derivative(time, z):
        seen.append(time)
        return torch.zeros_like(z)

    start = torch.tensor([0.0, 5.0], dtype=torch.float64)
    times = start[:, None] + torch.tensor([[0.2], [0.1]], dtype=torch.float64)
    config = SolverConfig(method=method)
    solution = solve(derivative, torch.ones(2, 1, dtype=torch.float64), start, times, config)
    shares = torch.tensor([*stages, *(1 + stage for stage in stages)], dtype=torch.float64)
    lengths = torch.tensor([0.1, 0.05], dtype=torch.float64)
    assert_close(torch.stack(seen), start + shares[:, None] * lengths)
    assert (solution.steps, solution.evaluations) == (2, 2 * len(stages))
    assert solution.evaluations == len(seen)


@pytest.mark.parametrize("method", FIXED)
def test_a_solve_in_two_parts_equals_one_solve(pendulum, initial, start, method):
    config = SolverConfig(method=method)
    ends = start[:, None] + torch.tensor([0.3, 0.7], dtype=torch.float64)
    whole = solve(pendulum, initial, start, ends, config).states
    first = solve(pendulum, initial, start, ends[:, :1], config).states
    second = solve(pendulum, first[0], ends[:, 0], ends[:, 1:], config).states
    assert_close(torch.cat([first, second]), whole, rtol=1e-13, atol=1e-13)


def test_arbitrary_times_need_no_interpolation(pendulum, initial, start, uneven):
    """Outputs at odd times are as exact as the steps: a finer solve agrees at fourth order."""
    solution = solve(pendulum, initial, start, uneven, SolverConfig(step=0.1))
    exact = solve(pendulum, initial, start, uneven, SolverConfig(step=0.005)).states
    assert_close(solution.states, exact, rtol=0, atol=2e-5)
    assert solution.states.shape == (5, 3, 2)
    assert_close(solution.states[0, 0], initial[0], rtol=0, atol=0)


def test_a_float32_state_stays_float32_with_float64_times(initial, start, uneven):
    def decay(time, z):
        assert time.dtype == z.dtype == torch.float32
        return -z

    solution = solve(decay, initial.float(), start, uneven, SolverConfig())
    exact = initial * torch.exp(-(uneven - start[:, None])).T[..., None]
    assert_close(solution.states, exact.float(), rtol=1e-5, atol=1e-6)
