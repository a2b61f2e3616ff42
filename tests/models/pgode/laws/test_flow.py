"""The motion under force laws as the initial value problem of Theorem 3.1."""

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.evidence.test_inference import truth
from tests.models.pgode.laws.small_laws import built, give, whole

import pgode
from pgode.batches.windows import Batch
from pgode.data.simulate import mixed
from pgode.models.pgode.laws.model import ForceLaws


@pytest.fixture(scope="module")
def case() -> tuple[ForceLaws, Batch]:
    data = pgode.simulate("mixed", objects=6, frames=20, train=3, val=0, test=0, ood=0)
    model = built(data, "none", prototypes=3)
    give(model, truth, kinds=3, drag=mixed.DRAG)
    return model, whole(model, data)


def test_the_right_hand_side_is_a_mixture_of_its_prototypes(case: tuple[ForceLaws, Batch]) -> None:
    model, batch = case
    flow = model.flow(batch)
    assert flow.weights.shape == (18, 3)
    parts = torch.stack([field(flow.initial) for field in flow.prototypes], dim=1)
    mixed = (flow.weights[..., None] * parts).sum(1)
    torch.testing.assert_close(mixed, flow.mixture(flow.initial), rtol=1e-12, atol=1e-12)
    assert not torch.allclose(parts[:, 0], parts[:, 1])


def test_the_solution_is_the_forecast_and_has_that_right_hand_side(
    case: tuple[ForceLaws, Batch],
) -> None:
    model, batch = case
    flow = model.flow(batch)
    solved = flow.solve(flow.initial, batch.target_times)
    forecast = model.forecast(batch, batch.target_times).mean
    decoded = flow.decode(solved, batch.target_times)
    torch.testing.assert_close(decoded, forecast, rtol=0, atol=1e-12)
    short = torch.full((batch.systems, 1), 1e-5, dtype=torch.float64)
    slope = (flow.solve(flow.initial, short)[0] - flow.initial) / 1e-5
    torch.testing.assert_close(slope, flow.mixture(flow.initial), rtol=1e-3, atol=1e-4)


def test_gradients_reach_the_state(case: tuple[ForceLaws, Batch]) -> None:
    model, batch = case
    flow = model.flow(batch)
    state = flow.initial.clone().requires_grad_()
    (slope,) = torch.autograd.grad(flow.mixture(state).square().sum(), state)
    assert np.isfinite(slope.numpy()).all() and slope.abs().max() > 0
