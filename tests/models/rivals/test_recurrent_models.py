"""LSTM and GRU: one recurrent rollout per object, from the last observation."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from pgode.nn.frames import last_observed


@pytest.fixture(params=["lstm", "gru"])
def name(request) -> str:
    return request.param


@pytest.fixture
def model(make, name):
    return make(name)


def every(times: list[float]) -> torch.Tensor:
    return torch.tensor([times], dtype=torch.float64).expand(5, -1)


def forecast(model, batch, times: list[float]) -> torch.Tensor:
    with torch.no_grad():
        return model.forecast(batch, every(times)).mean


def test_each_name_has_the_gates_of_its_cells(make):
    gates = {"lstm": 4, "gru": 3}  # input, forget, output, candidate; reset, update, candidate
    for name, count in gates.items():
        rollout = make(name, width=8).rollout
        for cells in (rollout.encoder.cells, rollout.decoder):
            assert cells.weight_hh_l0.shape == (count * 8, 8)


def test_forecast_on_whole_frames_is_the_rollout_from_the_last_observation(model, batch):
    start, _ = last_observed(batch)
    with torch.no_grad():
        rollout = model.rollout(batch, start, 3)
    assert_close(forecast(model, batch, [0.0, 1.0, 2.0, 3.0]), rollout)
    assert_close(rollout[:, 0], start)


def test_times_between_frames_are_interpolated_linearly(model, batch):
    mean = forecast(model, batch, [2.0, 2.25, 3.0])
    assert_close(mean[:, 1], 0.75 * mean[:, 0] + 0.25 * mean[:, 2])


def test_objects_do_not_affect_each_other(model, batch):
    times = [1.0, 3.0]
    states = batch.states.clone()
    states[0] += 1
    changed = forecast(model, replace(batch, states=states), times)
    alone = forecast(model, batch, times)
    assert not torch.allclose(changed[0], alone[0])
    assert_close(changed[1:], alone[1:])


def test_first_frames_are_remembered(model, batch):
    states = batch.states.clone()
    states[batch.system == 1, 0] += 1
    changed = forecast(model, replace(batch, states=states), [1.0])
    # All of system 1 is observed, so the last observation is the same and only memory differs.
    moved = (changed - forecast(model, batch, [1.0])).abs().amax((1, 2)) > 1e-6
    assert torch.equal(moved, batch.system == 1)


def test_layers_are_stacked_in_encoder_and_decoder(make, name, batch):
    model = make(name, layers=2)
    assert model.rollout.encoder.cells.num_layers == model.rollout.decoder.num_layers == 2
    model.loss(batch).total.backward()
    assert all(parameter.grad.any() for parameter in model.parameters())


def test_loss_is_the_squared_error_and_training_lowers_it(make, name, batch):
    model = make(name, width=16)
    wrong = model.forecast(batch, batch.target_times).mean - batch.targets
    losses = model.loss(batch)
    assert_close(losses.total, wrong[batch.targets_observed].square().mean())
    parameters = list(model.parameters())
    for _ in range(25):
        slopes = torch.autograd.grad(model.loss(batch).total, parameters)
        with torch.no_grad():
            for parameter, slope in zip(parameters, slopes, strict=True):
                parameter -= 0.5 * slope
    assert model.loss(batch).total < 0.5 * losses.total
