import pytest
import torch
from pydantic import ValidationError
from torch.testing import assert_close

from pgode.ode import METHODS, SolverConfig, solve
from pgode.ode.methods import Adaptive, FixedStep, names
from pgode.runtime.errors import InputError
from pgode.runtime.settings import validated


def gradients(derivative, initial, start, times, config):
    z = initial.clone().requires_grad_()
    states = solve(derivative, z, start, times, config).states
    weights = torch.linspace(-1, 1, states.numel(), dtype=states.dtype).view_as(states)
    loss = (weights * states.square()).sum()
    return states.detach(), *torch.autograd.grad(loss, [z, *derivative.parameters()])


@pytest.mark.parametrize("method", names(FixedStep))
@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("shared", [False, True], ids=["own times", "shared times"])
def test_gradients_equal_finite_differences(
    pendulum, initial, start, uneven, method, recompute, shared
):
    times = start[:, None] + torch.tensor([0.1, 0.3]) if shared else uneven[:, :2]
    config = SolverConfig(method=method, recompute=recompute)

    def states(z, stiffness):
        def derivative(time, y):
            return torch.func.functional_call(pendulum, {"stiffness": stiffness}, (time, y))

        return solve(derivative, z, start, times, config).states

    stiffness = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(states, (initial.clone().requires_grad_(), stiffness))


@pytest.mark.parametrize("method", names(FixedStep))
def test_recomputing_changes_neither_fixed_step_states_nor_gradients(
    pendulum, initial, start, uneven, method
):
    kept = gradients(pendulum, initial, start, uneven, SolverConfig(method=method))
    again = gradients(pendulum, initial, start, uneven, SolverConfig(method=method, recompute=True))
    for one, other in zip(kept, again, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("method", names(Adaptive))
def test_recomputing_changes_neither_adaptive_states_nor_gradients(
    pendulum, initial, start, uneven, method
):
    config = SolverConfig(method=method, rtol=1e-4, atol=1e-4)
    kept = gradients(pendulum, initial, start, uneven, config)
    again = gradients(
        pendulum, initial, start, uneven, config.model_copy(update={"recompute": True})
    )
    for one, other in zip(kept, again, strict=True):
        assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_recomputing_keeps_less_for_the_backward_pass(pendulum, initial, start, uneven, method):
    def kept(recompute):
        sizes = []
        step = {"step": 0.01} if method == "rk4" else {}
        config = SolverConfig(method=method, recompute=recompute, **step)
        z = initial.clone().requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: sizes.append(tensor.numel()) or tensor, lambda tensor: tensor
        ):
            solve(pendulum, z, start, uneven, config)
        return sum(sizes)

    assert kept(recompute=True) < 0.1 * kept(recompute=False)


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_what_a_backward_pass_recomputes_is_not_counted(pendulum, initial, start, uneven, method):
    free = solve(pendulum, initial, start, uneven, SolverConfig(method=method, recompute=True))
    budget = SolverConfig(method=method, recompute=True, max_evaluations=free.evaluations)
    solution = solve(pendulum, initial.clone().requires_grad_(), start, uneven, budget)
    solution.states.sum().backward()
    assert solution.evaluations == free.evaluations
    assert pendulum.stiffness.grad.abs() > 0


def test_without_gradients_recompute_is_plain_solving(pendulum, initial, start, uneven):
    with torch.no_grad():
        states = solve(pendulum, initial, start, uneven, SolverConfig(recompute=True)).states
    assert not states.requires_grad
    assert torch.equal(states, solve(pendulum, initial, start, uneven, SolverConfig()).states)


@pytest.mark.parametrize(
    "method, meant", [("rk5", "rk4"), ("Dopri5", "dopri5"), ("mid-point", "midpoint")]
)
def test_an_unknown_method_is_answered_with_the_nearest_one_and_the_list(method, meant):
    with pytest.raises(InputError, match=f'"{method}".*Did you mean "{meant}"') as caught:
        validated(SolverConfig, {"method": method}, "model.solver")
    assert all(known in str(caught.value) for known in METHODS)
    assert "--set model.solver.method=" in str(caught.value)


@pytest.mark.parametrize(
    "settings", [{"rtol": 1e-3}, {"atol": 1e-3}, {"method": "dopri5", "step": 0.01}]
)
def test_a_setting_of_the_other_kind_of_method_is_refused(settings):
    with pytest.raises(InputError, match="has no effect with method="):
        validated(SolverConfig, settings, "model.solver")


@pytest.mark.parametrize(
    "settings",
    [
        {"step": 0.0},
        {"step": float("nan")},
        {"rtol": -1e-5},
        {"max_evaluations": 0},
        {"stepsize": 0.1},
    ],
)
def test_senseless_settings_are_refused(settings):
    with pytest.raises(ValidationError, match=next(iter(settings))):
        SolverConfig(**settings)


def test_settings_cannot_be_changed_and_survive_json():
    config = SolverConfig(method="dopri5", rtol=1e-7)
    assert SolverConfig.model_validate_json(config.model_dump_json()) == config
    with pytest.raises(ValidationError, match="frozen"):
        config.step = 0.2


def test_shapes_that_do_not_fit_are_refused(pendulum, initial, start, uneven):
    config = SolverConfig()
    with pytest.raises(InputError, match=r"times has shape \(5,\).*expand"):
        solve(pendulum, initial, start, uneven[0], config)
    with pytest.raises(InputError, match=r"start has shape \(2,\).*Expected start \(3,\)"):
        solve(pendulum, initial, start[:2], uneven, config)
    with pytest.raises(InputError, match="at least one output"):
        solve(pendulum, initial, start, uneven[:, :0], config)
    with pytest.raises(InputError, match=r"shape \(6,\).*\(rows, width\)"):
        solve(pendulum, initial.flatten(), start, uneven, config)
    with pytest.raises(InputError, match="not frame numbers"):
        solve(pendulum, initial, start, torch.ones(3, 2, dtype=torch.int64), config)
    with pytest.raises(InputError, match=r"systems has shape \(2,\)"):
        solve(pendulum, initial, start, uneven, config, torch.tensor([0, 1]))
