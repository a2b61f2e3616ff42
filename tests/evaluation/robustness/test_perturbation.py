"""Perturbations change the right values, and grow as linear systems prescribe."""

from typing import Any

import numpy as np
import pytest
import torch
from tests.evaluation.linear import SYSTEM, linear, random_matrices, seeded
from tests.small_systems import CONDITION, uneven
from torch import Tensor
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.evaluation.robustness.perturbation import (
    Perturbations,
    difference_norms,
    rollout_from_observation,
    rollout_from_state,
)
from pgode.evaluation.robustness.perturbation_growth import bound, system_steps
from pgode.models import build_model, model_config
from pgode.models.flow import Flow
from pgode.runtime.errors import InputError


@pytest.fixture
def matrices() -> list[Tensor]:
    return random_matrices()


def linear_flow(matrices: list[Tensor]) -> Flow:
    field = linear(matrices)

    def solve(start: Tensor, times: Tensor) -> Tensor:
        exponentials = [[torch.linalg.matrix_exp(m * float(t)) for m in matrices] for t in times[0]]
        return torch.stack([linear(each)(start) for each in exponentials])

    initial = torch.randn(5, 4, dtype=torch.float64)
    weights = torch.ones(5, 1, dtype=torch.float64)

    def decode(states, times):
        return 3 * states[..., :2].transpose(0, 1)

    return Flow(initial, weights, field, (field,), solve, decode)


def test_growth_in_a_linear_system_is_that_of_the_matrix_exponential(matrices) -> None:
    slow = [0.1 * m for m in matrices]
    perturbations = Perturbations(4, (0.01, 1.0), draws=2)
    rollout = rollout_from_state(linear_flow(slow), torch.arange(1.0, 5).expand(2, -1).double())
    mask = torch.ones(5, 4, dtype=torch.float64)
    forecast, state = difference_norms(rollout, mask, perturbations, seeded())
    generator = seeded()
    for draw in range(2):
        direction = torch.randn(5, 4, generator=generator, dtype=torch.float64)
        direction = direction / direction.norm(dim=1, keepdim=True)
        for t in range(5):
            moved = linear([torch.linalg.matrix_exp(m * t) for m in slow])(direction)
            for k, magnitude in enumerate(perturbations.magnitudes):
                expected = magnitude * moved.norm(dim=1)
                np.testing.assert_allclose(state[k, draw, :, t], expected, rtol=1e-9)
                decoded = 3 * magnitude * moved[:, :2].norm(dim=1)
                np.testing.assert_allclose(forecast[k, draw, :, t], decoded, rtol=1e-9)
    steps = system_steps(state, SYSTEM.numpy())
    norms = torch.stack([torch.linalg.matrix_norm(m, 2) for m in slow]).numpy()
    assert steps.shape == (2, 2, 2, 4) and (steps <= norms[:, None]).all()
    total = (state**2)[:, :, 3:].sum(2)
    np.testing.assert_allclose(steps[:, :, 1], 0.5 * np.diff(np.log(total)))
    tight = bound(steps, norms / 1000)
    assert tight.fastest_step == steps.max() and tight.theorem.largest == norms.max() / 1000
    assert tight.share_within == (steps <= norms[:, None] / 1000).mean() < 1


def test_only_observed_values_of_the_last_frame_are_perturbed() -> None:
    data = uneven()
    normaliser = Normaliser.fit(data)
    windows = Windows(data, normaliser, CONDITION, 1)
    batch = next(windows.batches(data.systems)).to(dtype=torch.float64)
    model = build_model("last-value", model_config("last-value", {}), normaliser)
    times = torch.ones(batch.systems, 1).double()
    rollout, mask = rollout_from_observation(model, batch, times, 0)
    change = torch.full_like(mask, 0.5) * mask
    perturbed = rollout(change)[0]
    assert_close(perturbed[:, 0] - rollout(torch.zeros_like(mask))[0][:, 0], change)
    # The last value of a feature lies in the object's last frame or before, where it is unchanged.
    assert_close(perturbed[:, 1], model.forecast(batch, times).mean[:, 0] + change)
    never = ~batch.observed.any(2).any(1)
    assert never.sum() == 1 and (mask[never] == 0).all() and (mask.any(1) == ~never).all()
    forecast, state = difference_norms(rollout, mask, Perturbations(1, (0.3,), 2), seeded())
    assert forecast.shape == (1, 2, batch.objects - 1, 2) and state is None
    np.testing.assert_allclose(forecast, 0.3)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"magnitudes": ()}, "magnitudes none"),
        ({"magnitudes": (0.1, 0.0)}, "magnitudes 0.1, 0"),
        ({"magnitudes": (-1.0,)}, "above 0"),
        ({"magnitudes": (float("nan"),)}, "finite"),
        ({"horizon": 0}, "0 frames"),
        ({"draws": 0}, "0 draws"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_invalid_perturbations_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Perturbations(**{"horizon": 36, **changes})


def test_growth_is_reported_at_the_usual_horizons_up_to_the_last() -> None:
    assert [Perturbations(horizon=h).horizons for h in (5, 12, 30, 36, 50)] == [
        (5,),
        (12,),
        (12, 24, 30),
        (12, 24, 36),
        (24, 48, 50),
    ]
