"""PGODE on a linear regression of the past: what the regression finds, and what it leaves alone."""

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.models import build_model, model_config
from pgode.models.pgode.linear_past import LinearPast, LinearPastConfig
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config

CONDITION, HORIZON = 9, 4


def series(noise: float = 0.0, frames: int = 40) -> Trajectories:
    """Two features: each frame depends on the one three frames before, in both."""
    random = np.random.default_rng(1)
    x = np.zeros((2, 3, frames, 2))
    x[:, :, :3] = random.uniform(1, 2, (2, 3, 3, 2))
    for t in range(3, frames):
        x[:, :, t, 0] = 0.5 * x[:, :, t - 3, 0] + 0.45 * x[:, :, t - 3, 1]
        x[:, :, t, 1] = 0.9 * x[:, :, t - 3, 0] + 0.08 * x[:, :, t - 3, 1]
    x += noise * random.normal(size=x.shape)
    edges = np.ones((2, 3, 3)) - np.eye(3)
    return Trajectories.build(
        x, np.arange(frames), edges=edges, features=("a", "b"), split=["train", "test"]
    )


def fitted(data: Trajectories, config: LinearPastConfig) -> tuple[LinearPast, Windows]:
    normaliser = Normaliser.fit(data)
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    model = LinearPast(config.settled(windows), normaliser)
    model.fit(windows)
    return model, windows


def forecast(model: LinearPast, windows: Windows) -> tuple[np.ndarray, np.ndarray]:
    batch = next(windows.batches(10))
    when = batch.target_times[batch.system].T
    found = model.last(batch) + model(when, batch)
    return found.transpose(0, 1).numpy(), batch.targets.numpy()


def test_a_linear_law_of_the_past_is_found_with_or_without_a_constant():
    for constant in (True, False):
        model, windows = fitted(series(), LinearPastConfig(ridge=0.0, constant=constant))
        assert (model.lags, model.steps) == (CONDITION, HORIZON)
        found, truth = forecast(model, windows)
        np.testing.assert_allclose(found, truth, atol=2e-4)


def test_spacing_chooses_every_so_many_frames():
    model, windows = fitted(series(), LinearPastConfig(ridge=1e-6, spacing=3))
    assert model.weights.shape == (HORIZON, 3 * 2 + 1, 2)
    found, truth = forecast(model, windows)
    np.testing.assert_allclose(found[:, 2], truth[:, 2], atol=1e-3)  # Three frames ahead.


def test_without_a_constant_twice_the_past_is_twice_the_forecast():
    data = series()
    model, windows = fitted(data, LinearPastConfig(constant=False))
    double = Trajectories.build(
        2 * data.states, data.times, edges=data.edges, features=data.features
    )
    centre, scale = (np.array(x) for x in (windows.normaliser.centre, windows.normaliser.scale))
    one, _ = forecast(model, windows)
    two, _ = forecast(model, Windows(double, windows.normaliser, CONDITION, HORIZON))
    np.testing.assert_allclose(two * scale + centre, 2 * (one * scale + centre), atol=1e-4)


def test_a_strong_pull_is_towards_the_last_value():
    model, windows = fitted(series(), LinearPastConfig(ridge=1e6))
    batch = next(windows.batches(10))
    found, _ = forecast(model, windows)
    np.testing.assert_allclose(found, batch.states[:, -1:].expand(-1, HORIZON, -1), atol=1e-4)


def test_between_frames_it_is_interpolated_and_after_the_last_it_stays():
    model, windows = fitted(series(0.1), LinearPastConfig())
    batch = next(windows.batches(10))
    objects = batch.objects
    at = [model(torch.full((1, objects), when), batch)[0] for when in (1.0, 1.5, 2.0, 4.0, 9.0)]
    torch.testing.assert_close(at[1], (at[0] + at[2]) / 2)
    torch.testing.assert_close(at[3], at[4])
    assert not model(torch.zeros(1, objects), batch).any()


def test_a_run_stores_its_regression_and_its_size(tmp_path):
    changes = {
        "model.state.kind": "regressed",
        "model.width": 8,
        "window.condition": CONDITION,
        "window.horizon": HORIZON,
        "training.epochs": 1,
        "training.threads": 1,
    }
    data = series(0.05)
    run = train(data, tmp_path / "run", run_config("pgode", "messages", None, changes))
    linear = run.config.model["state"]["linear"]
    assert (linear["lags"], linear["steps"]) == (CONDITION, HORIZON)
    again = Run.open(tmp_path / "run")
    weights = again.model.state.linear.weights
    assert weights.abs().max() > 0.1
    torch.testing.assert_close(weights, run.model.state.linear.weights)
    # The weights are those of least squares, whatever the network has learned beside them.
    alone, _ = fitted(data.split_of("train"), LinearPastConfig())
    torch.testing.assert_close(weights, alone.weights)


def test_an_untrained_model_forecasts_little_else_than_its_regression():
    data = series()
    windows = Windows(data, Normaliser.fit(data), CONDITION, HORIZON)
    config, _ = model_config("pgode", {"state": {"kind": "regressed"}, "width": 8}).settled(
        windows, 0
    )
    torch.manual_seed(0)
    model = build_model("pgode", config, windows.normaliser)
    assert model.prepare(windows, 0, lambda what, share: None)
    batch = next(windows.batches(10))
    with torch.no_grad():
        found = model.forecast(batch, batch.target_times).mean
    np.testing.assert_allclose(found, batch.targets, atol=0.05)
