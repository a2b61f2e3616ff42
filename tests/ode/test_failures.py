import pytest
import torch

from pgode.ode import SolverConfig, solve
from pgode.ode.failures import name_systems
from pgode.runtime.errors import SolverError


@pytest.mark.parametrize("method, needed", [("euler", 22), ("midpoint", 44), ("rk4", 88)])
def test_fixed_steps_over_budget_are_refused_before_any_evaluation(
    pendulum, initial, start, uneven, method, needed
):
    """The longest gaps are 0.3, 0.31, 0.5, 0.6 and 0.4: 3 + 4 + 5 + 6 + 4 steps."""
    seen = []

    def derivative(time, z):
        seen.append(time)
        return pendulum(time, z)

    config = SolverConfig(method=method, max_evaluations=needed - 1)
    with pytest.raises(SolverError) as caught:
        solve(derivative, initial, start, uneven, config)
    message = str(caught.value)
    assert f"needs {needed} evaluations" in message
    assert f"budget max_evaluations is {needed - 1}" in message
    assert "raise step" in message and "fewer output times" in message
    assert not seen
    enough = config.model_copy(update={"max_evaluations": needed})
    assert solve(derivative, initial, start, uneven, enough).evaluations == needed == len(seen)


@pytest.mark.parametrize("shared", [False, True], ids=["own times", "shared times"])
def test_an_adaptive_solve_out_of_budget_names_the_fastest_systems_and_the_time(shared):
    """Rows of systems 40 and 7 oscillate far faster than those of the eight slow systems."""
    rates = torch.tensor([1.0, 1, 1, 500, 1, 2, 2, 2, 2, 1000], dtype=torch.float64)
    systems = torch.tensor([1, 1, 2, 40, 3, 4, 5, 6, 8, 7])

    def derivative(time, z):
        return rates[:, None] * torch.stack([-z[:, 1], z[:, 0]], dim=1)

    start = torch.zeros(10, dtype=torch.float64)
    times = torch.ones(10, 1, dtype=torch.float64)
    if not shared:
        times[0] = 0.5
    config = SolverConfig(method="dopri5", max_evaluations=200)
    with pytest.raises(SolverError) as caught:
        solve(derivative, torch.ones(10, 2, dtype=torch.float64), start, times, config, systems)
    message = str(caught.value)
    assert "budget of 200 evaluations" in message
    assert "Systems 7, 40, " in message
    assert message.split("Systems ")[1].split(" change")[0].count(",") == 4
    reached = float(message.split("no further than time ")[1].split(". ")[0])
    assert 0 < reached < 1
    assert all(fix in message for fix in ("rtol and atol", "fixed-step", "raise max_evaluations"))


def test_a_state_that_stops_being_finite_names_systems_time_and_fix(initial):
    """dz/dt = z^2 from 1 blows up at time 1, from 0.1 not before time 10."""
    start = torch.tensor([0.0, 4.0, 0.0], dtype=torch.float64)
    times = start[:, None] + torch.arange(1, 31, dtype=torch.float64) * 0.1
    z = torch.tensor([[0.1], [1.0], [0.1]], dtype=torch.float64)
    with pytest.raises(SolverError) as caught:
        solve(lambda t, z: z**2, z, start, times, SolverConfig(), torch.tensor([0, 9, 9]))
    message = str(caught.value)
    assert message.startswith("System 9: ")
    time = float(message.split("(time ")[1].split(")")[0])
    assert 5.0 <= time <= 5.6
    assert "rk4, step 0.1" in message
    assert "smaller step, lower the learning rate, or clip the gradients" in message


def test_one_infinite_output_is_enough_and_comes_with_its_own_time():
    def derivative(time, z):
        return torch.where((time > 0.15)[:, None] & (z > 1), torch.inf, 0.0)

    z = torch.tensor([[0.0, 0.0], [0.0, 2.0]], dtype=torch.float64)
    times = torch.tensor([[0.1, 0.2, 0.3]], dtype=torch.float64).expand(2, -1)
    with pytest.raises(SolverError, match=r"Row 1: .* by output 1 \(time 0\.2\)"):
        solve(derivative, z, torch.zeros(2).double(), times, SolverConfig())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_initial_state_that_is_not_finite_is_distinguished(
    pendulum, initial, start, uneven, value
):
    initial[1, 0] = value
    with pytest.raises(SolverError, match="System 5: the initial state is not finite"):
        solve(pendulum, initial, start, uneven, SolverConfig(), torch.tensor([3, 5, 6]))


@pytest.mark.parametrize("method", ["dopri5", "dopri8", "bosh3"])
def test_a_finite_time_blow_up_becomes_a_solver_error_near_its_time(method):
    z = torch.tensor([[0.1], [1.0]], dtype=torch.float64)
    start, times = torch.zeros(2).double(), torch.full((2, 1), 2.0).double()
    with pytest.raises(SolverError) as caught:
        solve(lambda t, z: z**2, z, start, times, SolverConfig(method=method), torch.tensor([3, 8]))
    message = str(caught.value)
    assert "ystem 8" in message or "Systems 8, 3" in message
    reached = float(message.split(" time ")[1].split(" ")[0].rstrip("."))
    assert abs(reached - 1) < 0.01


def test_a_derivative_that_is_not_a_number_names_its_system_in_an_adaptive_solve():
    def derivative(time, z):
        return torch.where((time > 0.5)[:, None] & (z > 1), torch.nan, -z)

    z = torch.tensor([[0.5], [4.0], [0.5]], dtype=torch.float64)
    start, times = torch.zeros(3).double(), torch.ones(3, 1).double()
    with pytest.raises(
        SolverError, match=r"System 8: .*derivative stopped being finite by time 0\.[5-9]"
    ):
        solve(derivative, z, start, times, SolverConfig(method="dopri5"), torch.tensor([2, 8, 2]))


def test_at_most_five_systems_are_named_and_each_once():
    systems = torch.tensor([4, 4, 5, 6, 7, 8, 9, 10])
    assert name_systems([0, 1], systems) == "System 4"
    assert name_systems([7, 0, 1], systems) == "Systems 10, 4"
    assert name_systems(range(8), systems) == "Systems 4, 5, 6, 7, 8 and 2 more"
    assert name_systems([2], None) == "Row 2"
