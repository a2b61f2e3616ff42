"""The models without training, against values worked out by hand."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models import build_model, model_config

TIMES = torch.tensor([[1.0, 2.0, 4.5]])


def forecast(name: str, data: Trajectories, condition: int = 3) -> np.ndarray:
    """A forecast of the first system at 1, 2 and 4.5 frames, in data units."""
    normaliser = Normaliser.fit(data)
    model = build_model(name, model_config(name, {}), normaliser)
    batch = next(Windows(data, normaliser, condition, 1).batches(1))
    return normaliser.raw(model.forecast(batch, TIMES).mean.numpy())


def moving(observed=None) -> Trajectories:
    """One object, frames 0.5 apart, x = 0, 1, 4, 9, ...; v differs from the slope of x."""
    frames = np.arange(6)
    states = np.stack([frames**2.0, 10.0 + frames], axis=1)[None, None]
    return Trajectories.build(
        states, frames * 0.5, edges=np.zeros((1, 1, 1)), features=("x", "vx"), observed=observed
    )


def without_velocity(observed=None, times=None) -> Trajectories:
    frames = np.arange(6)
    states = np.stack([frames**2.0, 10.0 + frames], axis=1)[None, None]
    return Trajectories.build(
        states,
        frames * 0.5 if times is None else times,
        edges=np.zeros((1, 1, 1)),
        features=("x", "mass"),
        roles=("position", "value"),
        observed=observed,
    )


def hide(*places: tuple[int, int]) -> np.ndarray:
    """Everything observed but these (frame, feature)."""
    observed = np.ones((1, 1, 6, 2), bool)
    for frame, feature in places:
        observed[0, 0, frame, feature] = False
    return observed


def close(forecasts: np.ndarray, expected: list[list[float]]) -> None:
    np.testing.assert_allclose(forecasts[0], expected, rtol=1e-5, atol=1e-5)


def test_last_value_repeats_the_end_of_the_condition():
    close(forecast("last-value", moving()), [[4, 12]] * 3)


def test_last_value_is_that_of_each_feature_s_last_observation():
    close(forecast("last-value", moving(hide((2, 0)))), [[1, 12]] * 3)


def test_mean_value_is_the_mean_of_each_feature_s_observations():
    close(forecast("mean-value", moving()), [[5 / 3, 11]] * 3)
    close(forecast("mean-value", moving(hide((2, 0)))), [[0.5, 11]] * 3)


def test_constant_velocity_moves_positions_by_the_named_velocity():
    # 12 per unit of time is 6 per frame.
    close(forecast("constant-velocity", moving()), [[10, 12], [16, 12], [31, 12]])


def test_constant_velocity_moves_from_the_position_s_last_observation():
    # x was 1 one frame before the end; the last velocity is still 12.
    mean = forecast("constant-velocity", moving(hide((2, 0))))
    close(mean, [[13, 12], [19, 12], [34, 12]])


def test_constant_velocity_uses_the_last_velocity_that_was_seen():
    mean = forecast("constant-velocity", moving(hide((2, 1))))
    close(mean, [[9.5, 11], [15, 11], [28.75, 11]])


def test_without_velocities_a_position_moves_by_its_last_difference():
    mean = forecast("constant-velocity", without_velocity())
    close(mean, [[7, 12], [10, 12], [17.5, 12]])


def test_last_difference_spans_a_gap():
    # x = 0 and 4 two frames apart.
    mean = forecast("constant-velocity", without_velocity(hide((1, 0))))
    close(mean, [[6, 12], [8, 12], [13, 12]])


def test_last_difference_is_taken_before_a_missing_end():
    # x = 0 and 1, the last of them one frame before the end.
    mean = forecast("constant-velocity", without_velocity(hide((2, 0))))
    close(mean, [[3, 12], [4, 12], [6.5, 12]])


def test_last_difference_counts_uneven_times():
    times = np.array([0.0, 0.5, 0.75, 1.25, 1.75, 2.25])  # x = 1 and 4, half a frame apart
    mean = forecast("constant-velocity", without_velocity(times=times))
    close(mean, [[10, 12], [16, 12], [31, 12]])


@pytest.mark.parametrize("condition", [1, 3])
def test_position_seen_only_once_stays(condition):
    hidden = hide(*((frame, 0) for frame in range(condition - 1)))
    mean = forecast("constant-velocity", without_velocity(hidden), condition)
    last = (condition - 1) ** 2
    close(mean, [[last, 9 + condition]] * 3)


def test_data_without_positions_keep_their_last_value():
    frames = np.arange(6)
    data = Trajectories.build(
        np.stack([frames * 1.0, 3.0 - frames], axis=1)[None, None],
        frames * 1.0,
        edges=np.zeros((1, 1, 1)),
        features=("a", "b"),
    )
    close(forecast("constant-velocity", data), [[2, 1]] * 3)


def test_object_that_was_never_seen_stays_at_the_centre(make, batch):
    never = ~batch.observed.any(-1).any(-1)
    last = make("last-value").forecast(batch, batch.target_times).mean[never]
    assert_close(last, torch.zeros(1, 3, 5).double())


def test_loss_is_the_mean_squared_error_of_the_observed_targets(make, batch):
    model = make("constant-velocity")
    wrong = model.forecast(batch, batch.target_times).mean - batch.targets
    losses = model.loss(batch)
    assert_close(losses.total, wrong[batch.targets_observed].square().mean())
    assert_close(losses.terms["mse"], losses.total)


def test_samples_are_the_forecast_itself(make, batch):
    forecast = make("last-value").forecast(batch, batch.target_times, samples=2)
    assert torch.equal(forecast.samples[0], forecast.mean)
    assert torch.equal(forecast.samples[1], forecast.mean)
