"""How long forecasts are trusted: to the end of regular motion, up to an encounter in chaotic."""

import numpy as np
import torch
from tests.models.pgode.laws.small_laws import built, give, particles, trajectories, whole

from pgode.models.pgode.laws.model import ForceLaws


def attraction(receiver: int, sender: int, distance: np.ndarray) -> np.ndarray:
    return -1.0 / distance**3


def spring(receiver: int, sender: int, distance: np.ndarray) -> np.ndarray:
    return -np.ones_like(distance)


def inferred(model: ForceLaws, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Time of trust of each system, and which of its objects end it."""
    batch = whole(model, trajectories(states), 2, states.shape[2] - 2)
    with torch.no_grad():
        contexts = model.forecast(batch, batch.target_times).contexts
    until, pair = contexts["system_trusted"], contexts["untrusted_pair"]
    return until[:, 0].numpy(), pair.reshape(len(states), -1).numpy() == 1


def meeting() -> np.ndarray:
    """Objects 1 and 3 approach each other and nearly meet after 1.2; 0 and 2 are far away."""
    frames = np.arange(22)[None, :, None] * 0.1
    place = np.array([[-60.0, 0.0], [-1.2, 0.0], [60.0, 5.0], [1.2, 0.001]])[:, None]
    speed = np.array([[0.0, 0.1], [0.9, 0.0], [0.0, -0.1], [-0.9, 0.0]])[:, None]
    return np.concatenate([place + frames * speed, np.tile(speed, (1, 22, 1))], axis=-1)[None]


def test_springs_are_trusted_to_the_end() -> None:
    states = particles(lambda r: -np.ones_like(r), systems=3)
    model = built(trajectories(states))
    give(model, spring)
    until, pair = inferred(model, states)
    np.testing.assert_allclose(until, 1.9, rtol=1e-6)
    assert not pair.any()


def test_an_encounter_ends_trust_and_its_objects_are_named() -> None:
    states = meeting()
    model = built(trajectories(states))
    give(model, attraction, span=(1e-4, 200.0))
    until, pair = inferred(model, states)
    # Two frames are observed; the attraction makes them meet a little before straight motion would.
    assert 0.4 < until[0] < 1.2
    assert pair.tolist() == [[False, True, False, True]]


def test_a_rotated_and_reordered_system_is_trusted_as_long() -> None:
    states = meeting()
    model = built(trajectories(states))
    give(model, attraction, span=(1e-4, 200.0))
    until, _ = inferred(model, states)
    turned = states[:, [3, 0, 1, 2]].copy()
    turned[..., :2] = turned[..., [1, 0]] * [1, -1] + 7.0
    turned[..., 2:] = turned[..., [3, 2]] * [1, -1]
    again, pair = inferred(model, turned)
    np.testing.assert_array_equal(again, until)
    assert pair.tolist() == [[True, False, True, False]]


def test_one_object_at_rest_is_trusted() -> None:
    states = np.zeros((1, 1, 8, 4))
    model = built(trajectories(np.concatenate([meeting()[:, :, :8], meeting()[:, :, :8]])))
    give(model, spring)
    until, pair = inferred(model, states)
    np.testing.assert_allclose(until, 0.6, rtol=1e-6)
    assert not pair.any()
