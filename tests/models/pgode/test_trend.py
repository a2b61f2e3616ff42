"""Positions without velocities continue their line."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import pgode
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import build_model, model_config
from pgode.models.forecaster import Forecaster, squared_error

CONDITION, HORIZON = 8, 12


def walkers(noise: float, systems: int = 40, roles: str = "position") -> pgode.Trajectories:
    """Four walkers in each system, straight on at their own speed."""
    random = np.random.default_rng(0)
    frames = CONDITION + HORIZON
    speed = 0.5 * random.normal(size=(systems, 4, 1, 2))
    path = 5 * random.normal(size=(systems, 4, 1, 2)) + speed * np.arange(frames)[:, None]
    return pgode.Trajectories.build(
        path + noise * random.normal(size=path.shape),
        np.arange(float(frames)),
        edges=np.broadcast_to(np.ones((4, 4)) - np.eye(4), (systems, 4, 4)),
        features=("east", "north"),
        roles=(roles, roles),
        split=["train"] * (systems - 12) + ["val"] * 2 + ["test"] * 10,
    )


def untrained(like: Normaliser, **state: object) -> Forecaster:
    torch.manual_seed(0)
    settings = {"width": 8, "dynamics": {"prototypes": 2}, "state": state}
    return build_model("pgode", model_config("pgode", settings), like).double()


@pytest.fixture(scope="module")
def straight():
    data = walkers(0.0)
    like = Normaliser.fit(data)
    batch = next(Windows(data, like, CONDITION, HORIZON).batches(5)).to(dtype=torch.float64)
    return like, batch


def test_the_line_is_exact_on_straight_paths_whatever_is_missing(straight):
    like, batch = straight
    trend = untrained(like).state.trend
    hidden = batch.observed.clone()
    hidden[0, 2:7] = False
    hidden[1, -3:] = False
    hidden[2, :-1] = False  # one observation: it has no slope
    hidden[3] = False
    states = torch.where(hidden, batch.states, 1e6)
    level, slope = trend.line(replace(batch, observed=hidden, states=states))
    speed = batch.states[:, 1] - batch.states[:, 0]
    assert_close(slope[[0, 1, 4, 5]], speed[[0, 1, 4, 5]], atol=1e-6, rtol=0)
    assert_close(level[0], batch.states[0, -1], atol=1e-6, rtol=0)
    assert_close(level[1], batch.states[1, -4], atol=1e-6, rtol=0)
    assert_close(level[2], batch.states[2, -1]) and slope[2].tolist() == [0, 0]
    assert level[3].tolist() == slope[3].tolist() == [0, 0]


def test_an_untrained_model_of_positions_alone_continues_them(straight):
    like, batch = straight
    with torch.no_grad():
        found = untrained(like).forecast(batch, batch.target_times).mean
        still = untrained(like, trend=False).forecast(batch, batch.target_times).mean
    assert (found - batch.targets).abs().max() < 0.1
    assert (still - batch.targets).abs().max() > 0.5


def test_the_line_has_gradients_and_a_learned_memory(straight):
    like, batch = straight
    model = untrained(like)
    noisy = replace(batch, states=batch.states + 0.01 * torch.randn_like(batch.states))
    model.loss(noisy).total.backward()
    trend = model.state.trend
    assert trend.log_memory.grad.abs() > 0 and trend.share.weight.grad.any()


def test_values_and_named_velocities_have_no_trend(make):
    assert make(state="latent").state.trend is None
    plain = Normaliser.fit(walkers(0.0, roles="value"))
    assert untrained(plain).state.trend is None


def test_straight_walkers_are_forecast_better_than_by_constant_velocity(tmp_path: Path) -> None:
    data = walkers(0.05)
    settings = {
        **{"model.width": 8, "model.dynamics.prototypes": 2, "model.solver.method": "euler"},
        **{"window.condition": CONDITION, "training.batch": 8, "training.curriculum": []},
    }
    options = {"horizon": HORIZON, "epochs": 4, "seed": 0, "threads": 1}
    run = pgode.train(data, tmp_path / "run", settings=settings, **options)
    assert run.config.preset == "messages"
    batch = next(Windows(data.split_of("test"), run.normaliser, CONDITION, HORIZON).batches(10))
    naive = build_model("constant-velocity", model_config("constant-velocity", {}), run.normaliser)
    with torch.no_grad():
        own, other = (
            squared_error(batch, model.forecast(batch, batch.target_times).mean).item()
            for model in (run.model, naive)
        )
    assert own < 0.5 * other
