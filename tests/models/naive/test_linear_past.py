"""Regression on the own past, against numpy's least squares and known processes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.models.naive.made import series
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import springs

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation import predict
from pgode.models import build_model, model_config
from pgode.models.naive.normal_equations import NormalEquations, solved
from pgode.models.naive.past_windows import filled
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config


def fitted(data: Trajectories, condition: int, horizon: int, **settings):
    windows = Windows(data, Normaliser.fit(data), condition, horizon)
    config, _ = model_config("linear-past", settings).settled(windows, 0)
    model = build_model("linear-past", config, windows.normaliser)
    assert model.prepare(windows, 0, lambda *_: None)
    return model, windows


def walks(systems: int = 12, frames: int = 20, features: int = 2) -> Trajectories:
    states = np.random.default_rng(0).normal(size=(systems, 1, frames, features)).cumsum(2)
    return Trajectories.build(
        states,
        np.arange(frames) * 1.0,
        edges=np.zeros((systems, 1, 1)),
        features=("a", "b")[:features],
    )


def test_without_penalty_it_is_least_squares():
    data = walks()
    model, windows = fitted(data, 3, 2, ridge=0.0)
    scaled = windows.normaliser.states(data.states)[:, 0]
    rows, targets = [], []
    for start in range(20 - 5 + 1):
        last = scaled[:, start + 2]
        past = scaled[:, start : start + 2] - last[:, None]
        one = np.ones((len(last), 1))
        rows.append(np.concatenate([past.reshape(len(last), -1), last, one], 1))
        targets.append((scaled[:, start + 3 : start + 5] - last[:, None]).reshape(len(last), -1))
    expected, *_ = np.linalg.lstsq(np.concatenate(rows), np.concatenate(targets), rcond=None)
    expected = expected.reshape(-1, 2, 2).swapaxes(0, 1)
    np.testing.assert_allclose(model.weights.numpy(), expected, atol=2e-6)
    last, change = scaled[0, 2], rows[0][0] @ expected
    found = predict(model, windows).mean[0]
    np.testing.assert_allclose(found, last + change, atol=1e-5)


def test_a_penalty_is_that_of_ridge_regression_on_regressors_of_one_size():
    random = np.random.default_rng(1)
    x, y = random.normal(size=(50, 3)) * [1.0, 100.0, 0.01], random.normal(size=(50, 1, 1))
    parts = tuple(NormalEquations.empty(1, 3, (0,), shared=True) for _ in range(3))
    parts[0].add(torch.from_numpy(x), torch.from_numpy(y), torch.ones(50, 1, 1, dtype=torch.bool))
    weights, penalties = solved(parts, 0.3)
    size = np.sqrt((x**2).sum(0))
    unit = x / size
    expected = np.linalg.solve(unit.T @ unit + 0.3 * np.eye(3), unit.T @ y[:, 0]) / size[:, None]
    np.testing.assert_allclose(weights[0].numpy(), expected, rtol=1e-9)
    assert penalties == [0.3]


def test_held_out_windows_choose_a_large_penalty_for_noise_and_a_small_one_for_a_law():
    noise = np.random.default_rng(0).normal(size=(10, 1, 12, 1))
    hopeless = Trajectories.build(
        noise.cumsum(2), np.arange(12) * 1.0, edges=np.zeros((10, 1, 1)), features=("a",)
    )
    model, _ = fitted(hopeless, 6, 2)
    assert model.penalties[0] >= 0.1
    model, _ = fitted(springs(), 4, 2)
    assert max(model.penalties) <= 1e-6


def test_a_linear_process_is_forecast_almost_exactly_and_gaps_do_no_harm():
    phase = np.random.default_rng(0).uniform(0, 6, (30, 1, 1, 1))
    states = np.sin(phase + 0.4 * np.arange(20)[:, None])
    seen = np.ones(states.shape, bool)
    for hidden in (False, True):
        if hidden:
            seen[:, 0, 2, 0] = np.arange(30) % 3 > 0
        data = Trajectories.build(
            states, np.arange(20) * 1.0, edges=np.zeros((30, 1, 1)), features=("a",), observed=seen
        )
        model, windows = fitted(data, 4, 6)
        assert model.gaps == hidden
        error = np.nanmean(predict(model, windows).squared_errors())
        simple = build_model("last-value", model_config("last-value", {}), windows.normaliser)
        last = np.nanmean(predict(simple, windows).squared_errors())
        assert error < (1e-10 if not hidden else last / 10)


def test_constants_and_known_inputs_are_regressors():
    random = np.random.default_rng(0)
    kind = random.integers(0, 2, (6, 2, 1)).astype(float)
    signal = random.integers(0, 2, (6, 2, 30, 1)).astype(float)
    states = np.cumsum(0.5 * signal[..., 0] + 0.1 * kind, axis=2)[..., None]
    data = Trajectories.build(
        states,
        np.arange(30) * 1.0,
        edges=np.zeros((6, 2, 2)),
        features=("a",),
        constants=kind,
        constant_names=("kind",),
        inputs=signal,
        input_names=("signal",),
    )
    model, windows = fitted(data, 3, 1)
    assert model.weights.shape == (1, 3 + 1 + 1 + 1, 1)
    assert np.nanmax(predict(model, windows).squared_errors()) < 1e-8


def test_missing_values_are_interpolated():
    states = torch.tensor([[1.0, 9.0, 9.0, 4.0, 9.0]]).unsqueeze(2)
    seen = torch.tensor([[True, False, False, True, False]]).unsqueeze(2)
    assert filled(states, seen)[0, :, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]
    assert filled(states, ~seen)[0, :, 0].tolist() == [9.0] * 5
    assert filled(states, torch.zeros_like(seen))[0, :, 0].tolist() == [0.0] * 5


def test_difficult_data_with_targets_that_are_missing_are_fitted_too():
    model, windows = fitted(uneven(), CONDITION, 3)
    assert model.gaps and torch.isfinite(model.weights).all()
    assert np.isfinite(predict(model, windows).mean).all()


def test_few_long_series_hold_out_their_end():
    frames = np.arange(400)
    model, windows = fitted(series(np.sin(0.3 * frames)), 8, 4)
    assert np.nanmax(predict(model, windows).squared_errors()) < 1e-8


def test_beyond_its_horizon_it_stays_and_between_frames_it_is_interpolated():
    model, windows = fitted(walks(), 3, 2)
    batch = next(windows.batches(5))
    times = torch.tensor([[1.0, 1.5, 2.0, 7.0]]).expand(5, -1)
    one, half, two, far = model.forecast(batch, times).mean.unbind(1)
    torch.testing.assert_close(half, (one + two) / 2)
    torch.testing.assert_close(far, two)


def test_it_is_a_run_that_is_saved_and_opened(tmp_path: Path):
    config = run_config("linear-past", changes={"window.condition": 6, "window.horizon": 4})
    run = train(springs(), tmp_path / "run", config)
    assert run.config.model["past"] == 6 and run.config.model["horizon"] == 4
    again = Run.open(tmp_path / "run")
    assert again.model.weights.abs().sum() > 0
    result = again.evaluate(springs(), samples=0)
    for row in ("test", "ood"):
        assert result.mse.row(row, 4) == pytest.approx(result.naive_mse("linear-past").row(row, 4))
    assert all(value <= 0 for value in result.skill.row("test", 4).values())
