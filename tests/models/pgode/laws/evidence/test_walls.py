"""Reflecting walls, recognised and placed."""

import numpy as np
import pytest

import pgode
from pgode.models.pgode.laws.evidence.observation import Observation
from pgode.models.pgode.laws.evidence.walls import bounces, placed, recognise
from tests.models.pgode.laws.small_laws import built


def seen_in(name: str, **sizes: int) -> tuple[list[Observation], np.ndarray, float]:
    """Observations of whole systems, half their box, and the unit of length."""
    data = pgode.simulate(name, val=0, test=0, ood=0, dt=0.01, sample_every=10, **sizes)
    model = built(data)
    frames = int(data.frames.max()) if hasattr(data, "frames") else data.states.shape[2]
    from pgode.batches.windows import Windows
    from pgode.models.pgode.laws.evidence.observation import observations

    windows = Windows(data, model.normaliser, frames // 2, frames - frames // 2)
    systems = np.arange(len(windows))
    batch = windows.batch(systems, np.zeros_like(systems))
    boxes = (
        np.asarray(data.parameters)[:, list(data.parameter_names).index("box")]
        if "box" in data.parameter_names
        else np.zeros(len(systems))
    )
    return (
        list(observations(batch, model.units, model.periods, targets=True)),
        boxes,
        model.units.length,
    )


def test_walls_of_charged_are_recognised_and_placed() -> None:
    seen, boxes, length = seen_in("charged", objects=5, frames=120, train=40)
    walls = recognise(seen)
    assert np.isfinite(walls.places).all()
    np.testing.assert_allclose(np.abs(walls.places) * length, boxes.mean(), rtol=0.02)
    assert walls.together
    bounced = 0
    for each, box in zip(seen, boxes, strict=True):
        places, deviation = placed(each, walls)
        if len(bounces(each).axis) and deviation == 0:
            bounced += 1
            found = np.median(np.abs(places)) * length
            assert found == pytest.approx(box, abs=1e-3)
    assert bounced > 10


@pytest.mark.parametrize("name", ["nbody", "springs"])
def test_no_walls_are_seen_where_nothing_bounces(name: str) -> None:
    seen, _, _ = seen_in(name, objects=5, frames=40, train=20)
    walls = recognise(seen)
    assert not walls.any
    places, deviation = placed(seen[0], walls)
    assert not np.isfinite(places).any()
    assert deviation == 0
