"""Reflecting walls, recognised and placed."""

import numpy as np
import pytest
from tests.models.pgode.laws.small_laws import built, whole

import pgode
from pgode.models.pgode.laws.evidence.observation import Observation, observations
from pgode.models.pgode.laws.evidence.walls import bounces, placed, recognise


def seen_in(name: str, **sizes: int) -> tuple[list[Observation], np.ndarray, float]:
    """Observations of whole systems, half their box (NaN without one), and the unit of length."""
    data = pgode.simulate(name, val=0, test=0, ood=0, dt=0.01, sample_every=10, **sizes)
    model = built(data)
    batch = whole(model, data, condition=10, horizon=data.frames - 10)
    names = model.normaliser.parameters
    boxes = data.parameters[:, names.index("box")] if "box" in names else np.full(1, np.nan)
    seen = observations(batch, model.units, model.periods, targets=True)
    return list(seen), boxes, model.units.length


def test_walls_of_charged_are_recognised_and_placed() -> None:
    seen, boxes, length = seen_in("charged", objects=5, frames=120, train=40)
    walls = recognise(seen)
    assert np.isfinite(walls.places).all()
    np.testing.assert_allclose(np.abs(walls.places) * length, boxes.mean(), rtol=0.02)
    assert walls.together
    errors = []
    for each, box in zip(seen, boxes, strict=True):
        places, deviation = placed(each, walls)
        if len(bounces(each).axis) and deviation == 0:
            errors.append(abs(np.median(np.abs(places)) * length - box))
    # A force that acts within the frame of the only bounce moves the place by up to its drift.
    assert len(errors) > 30
    assert np.median(errors) < 1e-4
    assert np.mean(np.array(errors) < 1e-3) > 0.75
    assert max(errors) < 0.01


@pytest.mark.parametrize("name", ["nbody", "springs"])
def test_no_walls_are_seen_where_nothing_bounces(name: str) -> None:
    seen, _, _ = seen_in(name, objects=5, frames=40, train=20)
    walls = recognise(seen)
    assert not walls.any
    places, deviation = placed(seen[0], walls)
    assert not np.isfinite(places).any()
    assert deviation == 0
