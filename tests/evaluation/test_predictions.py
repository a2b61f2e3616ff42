"""Forecasts of whole splits: every system once, whatever its number of objects."""

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION, HORIZON, OBJECTS, uneven

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.evaluation import predict, predictions
from pgode.models import Forecaster, build_model, model_config

DATA = uneven()


def windows() -> Windows:
    return Windows(DATA, Normaliser.fit(DATA), CONDITION, HORIZON)


def model(name: str = "pgode") -> Forecaster:
    torch.manual_seed(0)
    small = {"width": 8, "dynamics": {"prototypes": 3}} if name == "pgode" else {}
    return build_model(name, model_config(name, small), Normaliser.fit(DATA))


def test_objects_of_systems_of_any_size_lie_side_by_side() -> None:
    found = predict(model(), windows(), draws=2)
    total = int(OBJECTS.sum())
    assert found.mean.shape == found.truth.shape == found.known.shape == (total, HORIZON, 5)
    assert found.draws.shape == (2, total, HORIZON, 5)
    assert found.times.shape == (total, HORIZON)
    assert found.frames == HORIZON
    np.testing.assert_array_equal(found.system, np.repeat(np.arange(5), OBJECTS))
    assert found.contexts["gate"].shape == (total, 3)
    assert len(found.contexts["system_context"]) == 5


def test_truth_and_mask_are_those_of_the_frames_after_the_condition() -> None:
    found = predict(model("last-value"), windows())
    scaled = Normaliser.fit(DATA).states(DATA.states)[DATA.present][:, CONDITION:][:, :HORIZON]
    known = DATA.observed[DATA.present][:, CONDITION:][:, :HORIZON]
    np.testing.assert_array_equal(found.known, known)
    np.testing.assert_allclose(found.truth[known], scaled[known], rtol=1e-6)
    errors = found.squared_errors()
    np.testing.assert_array_equal(np.isnan(errors), ~known)
    np.testing.assert_allclose(errors[known], (found.mean - found.truth)[known] ** 2)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_how_systems_are_batched_changes_nothing(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = predict(model(), windows())
    monkeypatch.setattr(predictions, "BATCH", size)
    parts = predict(model(), windows())
    np.testing.assert_array_equal(parts.system, whole.system)
    np.testing.assert_array_equal(parts.times, whole.times)
    np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-6)


def test_draws_are_fixed_by_the_seed() -> None:
    draws = [predict(model(), windows(), 3, seed).draws for seed in (1, 1, 2)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])
