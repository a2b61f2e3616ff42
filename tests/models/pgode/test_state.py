"""What is integrated: positions and velocities themselves, and what the decoder adds to."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models.pgode.state import Kinematic, Latent
from pgode.nn.frames import last_observed

V, Q, MASS = [0, 4], [1, 3], 2


def raw(normaliser: Normaliser, scaled: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(normaliser.raw(scaled.numpy()))


def every(times: list[float]) -> torch.Tensor:
    return torch.tensor([times], dtype=torch.float64).expand(5, -1)


@pytest.fixture
def model(make):
    return make(solver={"step": 0.002})


def test_position_changes_by_the_velocity_in_data_units(model, batch, normaliser):
    small = 0.02
    around = every([1 - small, 1.0, 1 + small, 2.5 - small, 2.5, 2.5 + small])
    with torch.no_grad():
        states = raw(normaliser, model.forecast(batch, around).mean)
    for middle in (1, 4):
        slope = (states[:, middle + 1, Q] - states[:, middle - 1, Q]) / (2 * small)
        assert_close(slope, states[:, middle, V] * normaliser.frame_duration, atol=1e-4, rtol=1e-4)


def test_derivative_of_the_position_is_the_velocity_exactly(model, batch, normaliser):
    y = torch.randn(batch.objects, 4 + 8).double()
    contexts = model.contexts(batch)
    bound = model.dynamics.bind(model.gate(contexts, batch), contexts, batch)
    derivative = model.state.derivative(bound)
    slope = derivative(torch.zeros(batch.objects), y)[:, :2]
    velocity = y[:, 2:4] * normaliser.scale[V[0]] + normaliser.centre[V[0]]
    per_frame = velocity * normaliser.frame_duration / normaliser.scale[Q[0]]
    # The two factors are stored in float32.
    assert_close(slope * model.config.solver.frame_time, per_frame, rtol=1e-6, atol=1e-6)


def test_forecast_starts_at_the_last_observation(model, batch):
    with torch.no_grad():
        start = model.forecast(batch, every([0.0])).mean[:, 0]
    seen = batch.observed[:, -1]
    for features in (V, Q):
        here = seen[:, features]
        assert here.any()
        assert_close(start[:, features][here], batch.states[:, -1, features][here])


def test_position_that_was_last_seen_earlier_is_moved_on_by_its_velocity(make, batch, normaliser):
    observed, states = batch.observed.clone(), batch.states.clone()
    observed[0] = True
    observed[0, 2:] = False  # seen last at frame -2
    hidden = replace(batch, observed=observed, states=states)
    with torch.no_grad():
        start = raw(normaliser, make().forecast(hidden, every([0.0])).mean[0, 0])
    last = raw(normaliser, states[0, 1])
    assert_close(start[V], last[V])
    elapsed = 2 * normaliser.frame_duration
    assert_close(start[Q], last[Q] + last[V] * elapsed, rtol=1e-6, atol=1e-6)


def test_object_that_was_never_seen_starts_at_the_centre_of_the_data(make, batch):
    never = ~batch.observed.any(-1).any(-1)
    with torch.no_grad():
        start = make().forecast(batch, every([0.0])).mean[never, 0]
    assert_close(start[:, [*Q, *V]], torch.zeros(1, 4).double())


def test_other_features_are_a_change_of_their_last_value(make, batch):
    model = make(state={"history_readout": False, "mean_structure": False})
    for parameter in model.state.decoder.second.parameters():
        torch.nn.init.zeros_(parameter)
    last, _ = last_observed(batch)
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times).mean
    assert_close(forecast[:, :, MASS], last[:, None, MASS].expand(-1, 3))


@pytest.mark.parametrize("residual", [True, False])
def test_latent_decoder_adds_to_the_last_observation_if_it_is_residual(make, batch, residual):
    without = {"history_readout": False, "mean_structure": False, "trend": False}
    model = make(state={"kind": "latent", "residual_decoder": residual, **without})
    for parameter in model.state.decoder.second.parameters():
        torch.nn.init.zeros_(parameter)
    last, _ = last_observed(batch)
    with torch.no_grad():
        forecast = model.forecast(batch, batch.target_times).mean
    expected = last if residual else torch.zeros_like(last)
    assert_close(forecast, expected[:, None].expand_as(forecast))


def test_without_acceleration_motion_is_that_of_constant_velocity(make, batch):
    model = make()
    torch.nn.init.zeros_(model.state.acceleration.weight)
    with torch.no_grad():
        ours = model.forecast(batch, batch.target_times).mean
        naive = make("constant-velocity").forecast(batch, batch.target_times).mean
    assert_close(ours[..., [*Q, *V]], naive[..., [*Q, *V]])


def test_untrained_objects_nearly_keep_their_velocities(make, batch):
    model, naive = make(seed=3), make("constant-velocity")
    times = batch.target_times[:, :1]
    with torch.no_grad():
        ours, theirs = (each.forecast(batch, times).mean[..., V] for each in (model, naive))
    assert_close(ours, theirs, atol=0.05, rtol=0)


def test_data_that_name_no_velocities_are_decoded_from_the_latent_state(make):
    data = Trajectories.build(
        np.random.default_rng(0).normal(size=(3, 2, 7, 2)),
        np.arange(7) * 1.0,
        edges=np.ones((3, 2, 2)) - np.eye(2),
        features=("a", "b"),
    )
    like = Normaliser.fit(data)
    model = make(like=like)
    assert isinstance(model.state, Latent)
    batch = next(Windows(data, like, 4, 3).batches(3)).to(dtype=torch.float64)
    loss = model.loss(batch).total
    loss.backward()
    assert "parameters" not in model.loss(batch).terms
    assert all(p.grad.any() for p in model.parameters())


def test_data_that_name_velocities_are_integrated_only_with_kinematics(make):
    assert isinstance(make().state, Kinematic)
    assert isinstance(make(state="latent").state, Latent)
