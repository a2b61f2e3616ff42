"""Forecasts turn, shift and permute with the data, and keep momentum where they should."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.models.pgode.laws.small_laws import built, give, particles, trajectories, whole
from tests.rigid_motions import moved, moved_batch, turn

from pgode.batches.windows import Batch
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.laws.situation import forces_of


def two_laws(receiver: int, sender: int, distance: np.ndarray) -> np.ndarray:
    """Charges: objects of the same kind repel, others attract."""
    sign = 1.0 if receiver == sender else -1.0
    return sign * 0.2 / (distance**2 + 0.1) ** 1.5


def pursuit(receiver: int, sender: int, distance: np.ndarray) -> np.ndarray:
    """Objects of one kind flee from the others, who pursue them."""
    sign = 1.0 if receiver >= sender else -1.0
    return sign * 0.2 / (distance**2 + 0.1) ** 1.5


def model_and_batch(law=two_laws, **settings: object) -> tuple[ForceLaws, Batch]:
    def first(distance: np.ndarray) -> np.ndarray:
        return law(0, 0, distance)

    data = trajectories(particles(first, systems=3, axes=3, objects=5, frames=21))
    model = built(data, "none", prototypes=2, **settings)
    give(model, law, kinds=2, drag=(0.0, 0.1))
    return model, whole(model, data)


def forecast(model: ForceLaws, batch: Batch) -> torch.Tensor:
    with torch.no_grad():
        return model.forecast(batch, batch.target_times).mean


@pytest.mark.parametrize("mirror", [False, True])
def test_forecast_and_inference_turn_and_shift_with_the_data(mirror: bool) -> None:
    model, batch = model_and_batch()
    matrix, shift = turn(3, mirror=mirror), torch.tensor([0.3, -2.0, 1.0]).double()
    turned = moved_batch(batch, model.normaliser, matrix, shift)
    here, there = model.situation(batch), model.situation(turned)
    np.testing.assert_allclose(here.weights, there.weights, atol=1e-9)
    torch.testing.assert_close(here.forces.strength, there.forces.strength, rtol=0, atol=1e-9)
    expected = moved(forecast(model, batch), model.normaliser, matrix, shift)
    torch.testing.assert_close(forecast(model, turned), expected, rtol=0, atol=1e-9)


def test_forecast_and_inference_permute_with_the_objects() -> None:
    def charge(distance: np.ndarray) -> np.ndarray:
        return two_laws(0, 0, distance)

    states = particles(charge, systems=3, axes=3, objects=5, frames=21)
    order = np.array([3, 0, 4, 1, 2])
    data, other = trajectories(states), trajectories(states[:, order])
    model = built(data, "none", prototypes=2)
    give(model, two_laws, kinds=2, drag=(0.0, 0.1))
    batch, permuted = whole(model, data), whole(model, other)
    rows = (np.arange(3)[:, None] * 5 + order).ravel()
    here, there = model.situation(batch), model.situation(permuted)
    np.testing.assert_allclose(here.weights[rows], there.weights, atol=1e-9)
    torch.testing.assert_close(here.forces.strength, there.forces.strength, rtol=0, atol=1e-9)
    expected = forecast(model, batch)[rows]
    torch.testing.assert_close(forecast(model, permuted), expected, rtol=0, atol=1e-9)


def momentum_drift(model: ForceLaws, batch: Batch) -> float:
    model.drag.zero_()
    now = model.situation(batch)
    weights = np.eye(2)[np.arange(batch.objects) % 2]
    mixed = [replace(each, weights=weights[:5]) for each in now.inferred]
    forces = forces_of(
        *(now.forces.table, model.numbers[:2, :2], model.drag, now.layout),
        np.ones((now.layout.ends.shape[1], 2)),
        np.concatenate([each.weights for each in mixed]),
        np.ones(batch.systems),
        now.forces.walls[0].numpy(),
    )
    path = model.run(batch, replace(now, forces=forces), batch.target_times, 1)
    total = path.velocities[0].reshape(-1, batch.systems, 5, 3).sum(2)
    return float((total - total[0]).abs().max())


def test_momentum_is_conserved_by_the_third_law() -> None:
    assert momentum_drift(*model_and_batch()) < 1e-13


def test_momentum_may_change_without_the_third_law() -> None:
    assert momentum_drift(*model_and_batch(pursuit, third_law=False)) > 1e-3
