"""Constants and known inputs of a batch, and derivatives that inputs drive."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, OBJECT_AXIS, TIME_AXIS, uneven
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.nn.exogenous import NOTHING, Driven, Exogenous, beside
from pgode.nn.integrate import integrate
from pgode.ode import SolverConfig


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Inputs that count the frames of each system and number its objects."""
    frames = np.arange(TIME_AXIS, dtype=float)
    counted = np.broadcast_to(frames[:, None], (5, OBJECT_AXIS, TIME_AXIS, 1))
    numbers = np.broadcast_to(np.arange(OBJECT_AXIS)[:, None, None], counted.shape)
    data = uneven(
        constants=np.arange(5.0 * OBJECT_AXIS).reshape(5, OBJECT_AXIS, 1),
        constant_names=("mass",),
        inputs=np.concatenate([counted, numbers], axis=-1),
        input_names=("frame", "number"),
    )
    fitted = Normaliser.fit(data)
    unscaled = {
        **{"constant_mean": (0.0,), "constant_scale": (1.0,)},
        **{"input_mean": (0.0, 0.0), "input_scale": (1.0, 1.0)},
    }
    windows = Windows(data, replace(fitted, **unscaled), CONDITION, HORIZON)
    return windows.batch(np.arange(5), np.zeros(5, int)).to(dtype=torch.float64)


BOTH = Exogenous(1, 2)


def test_what_a_model_sees_has_the_promised_widths(batch):
    assert (BOTH.width, BOTH.history_width(6)) == (3, 13)
    assert BOTH.past(batch).shape == (14, CONDITION, 3)
    assert BOTH.ahead(batch, 5).shape == (14, 5, 3)
    assert BOTH.history(batch, 6).shape == (14, 13)
    assert NOTHING.past(batch).shape == (14, CONDITION, 0)
    assert NOTHING.at(batch, batch.target_times).shape == (14, HORIZON, 0)
    assert Exogenous(1, 0).ahead(batch, 2)[:, 1, 0].tolist() == batch.constants[:, 0].tolist()


def test_the_condition_has_its_own_inputs_and_a_time_those_of_the_frame_it_leads_to(batch):
    assert BOTH.past(batch)[0, :, 1].tolist() == [0, 1, 2, 3]
    times = torch.tensor([[0.0, 0.4, 1.0, 1.2, 9.0]]).double().expand(5, -1)
    first = BOTH.at(batch, times)[batch.system == 0]
    assert first[0, :, 1].tolist() == [3, 4, 4, 5, 6]
    assert first[:, 0, 2].tolist() == [0, 1, 2, 3]
    # Two frames of the last system are one frame of training.
    assert BOTH.at(batch, times)[-1, :, 1].tolist() == [3, 4, 5, 6, 6]


def test_nothing_is_put_beside_a_state_without_a_copy():
    x = torch.ones(3, 2)
    assert beside(x, torch.empty(3, 0)) is x
    assert beside(x, torch.ones(3, 1)).shape == (3, 3)


def integral(batch: Batch, until: torch.Tensor) -> torch.Tensor:
    """What the input "frame" adds up to from time 0 to some times, by fine steps."""
    fine = 2000
    shares = (torch.arange(fine).double() + 0.5) / fine
    total = []
    for output in until.unbind(1):
        at = BOTH.at(batch, output[:, None] * shares)[..., 1]
        total.append(at.mean(1) * output[batch.system])
    return torch.stack(total)


@pytest.mark.parametrize("solver", ["euler", "midpoint", "rk4", "dopri5", "bosh3"])
@pytest.mark.parametrize("recompute", [False, True])
def test_each_interval_has_the_inputs_of_its_own_frame_and_system(batch, solver, recompute):
    given = []

    def bound(known):
        given.append(known)
        return lambda t, z: known[:, 1:2].expand_as(z)

    config = SolverConfig(
        method=solver,
        frame_time=1.0,
        recompute=recompute,
        **({"step": 1.0} if solver in ("euler", "midpoint", "rk4") else {}),
    )
    zero = torch.zeros(batch.objects, 1).double()
    uneven_times = torch.tensor([[0.0, 0.4, 1.0, 2.5]]).double().expand(5, -1)
    for times in (batch.target_times, uneven_times, 0.3 + batch.target_times):
        found = integrate(Driven(BOTH, bound), zero, batch, times, config)
        expected = integral(batch, times)
        assert_close(found.states[..., 0], expected, atol=5e-3, rtol=0)
        assert found.evaluations >= found.steps > 0
    assert all(known.shape == (batch.objects, 3) for known in given)


def test_outputs_on_frames_take_one_step_per_frame(batch):
    slope = Driven(BOTH, lambda known: lambda t, z: z * 0)
    zero = torch.zeros(batch.objects, 1).double()
    alone = replace(batch, input_times=batch.input_times[:1].expand(5, -1))
    times = torch.tensor([[1.0, 2.0, 3.0]]).double().expand(5, -1)
    nearly = times + torch.tensor([1e-7, -1e-7, 2e-7]).double()
    config = SolverConfig(method="euler")
    assert integrate(slope, zero, alone, times, config).steps == 3
    assert integrate(slope, zero, alone, nearly, config).steps == 3


def test_constants_alone_are_solved_as_one_problem(batch):
    slope = Driven(Exogenous(1, 0), lambda known: lambda t, z: known.expand_as(z))
    zero = torch.zeros(batch.objects, 1).double()
    config = SolverConfig(method="euler", frame_time=1.0, step=1.0)
    found = integrate(slope, zero, batch, batch.target_times, config).states[..., 0]
    assert_close(found, batch.constants[:, 0] * batch.target_times.T[:, batch.system])
