import pytest
import torch
from torch.testing import assert_close

from pgode.ode import SolverConfig, solve
from pgode.ode.methods import Adaptive, names


@pytest.fixture(params=["own times", "shared times"])
def times(request, start, uneven):
    if request.param == "own times":
        return uneven
    return start[:, None] + torch.tensor([0.0, 0.1, 0.4, 0.4, 1.5], dtype=torch.float64)


@pytest.mark.parametrize("method", names(Adaptive))
def test_adaptive_methods_agree_with_fine_rk4(pendulum, initial, start, times, method):
    fine = solve(pendulum, initial, start, times, SolverConfig(step=0.002))
    config = SolverConfig(method=method, rtol=1e-6, atol=1e-6, max_evaluations=100_000)
    solution = solve(pendulum, initial, start, times, config)
    assert_close(solution.states, fine.states, rtol=0, atol=1e-3 if method == "fehlberg2" else 4e-5)
    assert solution.evaluations > solution.steps > 0


@pytest.mark.parametrize("method", ["dopri5", "dopri8", "bosh3"])
def test_tighter_tolerances_bring_the_error_down_at_every_output(
    pendulum, initial, start, times, method
):
    """Outputs between steps must be as exact as the steps, which a poor read-off would spoil."""
    fine = solve(pendulum, initial, start, times, SolverConfig(step=0.002)).states
    config = SolverConfig(method=method, rtol=1e-9, atol=1e-9)
    states = solve(pendulum, initial, start, times, config).states
    assert_close(states, fine, rtol=0, atol=2e-8)


@pytest.mark.parametrize("method", names(Adaptive))
def test_the_derivative_is_never_asked_about_times_after_the_last_output(
    initial, start, times, method
):
    latest = []

    def derivative(time, z):
        latest.append((time - times[:, -1]).max())
        return -z

    solution = solve(derivative, initial, start, times, SolverConfig(method=method, rtol=1e-3))
    assert max(latest) <= 1e-12
    assert solution.evaluations == len(latest)


def test_rows_of_padding_do_not_loosen_the_tolerance(pendulum, initial, start):
    """The error of the worst row counts, so calm company leaves a solve exactly as it was."""
    config = SolverConfig(method="dopri5", rtol=1e-4, atol=1e-4)
    times = start[:, None] + torch.tensor([0.7, 1.4], dtype=torch.float64)
    alone = solve(pendulum, initial, start, times, config)
    padded = solve(
        lambda t, z: torch.cat([pendulum(t[:3], z[:3]), torch.zeros_like(z[3:])]),
        torch.cat([initial, torch.zeros(50, 2, dtype=torch.float64)]),
        torch.cat([start, torch.zeros(50, dtype=torch.float64)]),
        torch.cat([times, times[:1].expand(50, -1) - start[0]]),
        config,
    )
    assert padded.evaluations == alone.evaluations
    assert_close(padded.states[:, :3], alone.states, rtol=1e-14, atol=1e-14)


def test_dopri5_solves_float32_without_warnings(initial, start, uneven):
    solution = solve(
        lambda t, z: -z,
        initial.float(),
        start.float(),
        uneven.float(),
        SolverConfig(method="dopri5"),
    )
    exact = initial * torch.exp(-(uneven - start[:, None])).T[..., None]
    assert solution.states.dtype == torch.float32
    assert_close(solution.states, exact.float(), rtol=1e-4, atol=1e-5)


def test_an_assertion_of_the_derivative_is_not_taken_for_a_failure_of_the_solver(
    initial, start, times
):
    def derivative(time, z):
        raise AssertionError("edges and objects disagree")

    with pytest.raises(AssertionError, match="edges and objects disagree"):
        solve(derivative, initial, start, times, SolverConfig(method="dopri5"))


@pytest.mark.parametrize("method", names(Adaptive))
def test_gradients_agree_with_fine_rk4(pendulum, initial, start, times, method):
    def gradients(config):
        z = initial.clone().requires_grad_()
        states = solve(pendulum, z, start, times, config).states
        loss = states.square().sum()
        return torch.autograd.grad(loss, [z, pendulum.stiffness])

    fine = gradients(SolverConfig(step=0.005))
    tolerance = 1e-5 if method in ("fehlberg2", "adaptive_heun") else 1e-8
    found = gradients(SolverConfig(method=method, rtol=tolerance, atol=tolerance))
    for one, other in zip(found, fine, strict=True):
        assert_close(one, other, rtol=0, atol=1e-2 if tolerance == 1e-5 else 1e-5)


@pytest.mark.parametrize("method", names(Adaptive))
def test_a_row_gets_no_gradient_from_a_row_it_does_not_know(
    pendulum, initial, start, times, method
):
    """Not even through the size of the steps, which all rows share."""
    z = initial.clone().requires_grad_()
    states = solve(pendulum, z, start, times, SolverConfig(method=method, rtol=1e-3)).states
    (gradient,) = torch.autograd.grad(states[:, 1].sum(), z)
    assert torch.equal(gradient[[0, 2]], torch.zeros(2, 2, dtype=torch.float64))
    assert gradient[1].abs().min() > 0


@pytest.mark.parametrize("method", names(Adaptive))
def test_gradients_of_a_system_at_rest_are_finite(start, times, method):
    """At rest the derivative is zero, where the square root in a norm has no gradient."""
    z = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    states = solve(lambda t, z: -z, z, start, times, SolverConfig(method=method)).states
    (gradient,) = torch.autograd.grad(states[-1].sum(), z)
    assert torch.isfinite(gradient).all()
    # At rest every step meets the tolerances, so only the methods of higher order are exact.
    if method in ("dopri5", "dopri8", "bosh3"):
        exact = torch.exp(start - times[:, -1])[:, None].expand(-1, 2)
        assert_close(gradient, exact, rtol=0, atol=0.05)
