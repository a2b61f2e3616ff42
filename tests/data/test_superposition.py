"""Superposition: rotations and shifts are undone, reflections are not, and a mean is a mean."""

import numpy as np
from tests.rigid_motions import turn

from pgode.data.superposition import mean_structure, superposed


def frames_of(count: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.3, (1, count, 8, 3))


def turned(seed: int) -> np.ndarray:
    return turn(3, mirror=False, seed=seed).numpy()


def test_superposition_undoes_every_turn_and_shift():
    frame = frames_of(1)
    turns = [turned(seed) for seed in range(6)]
    moved = np.stack([frame[0, 0] @ turn.T + k for k, turn in enumerate(turns)])[None]
    on_first = superposed(moved)
    np.testing.assert_allclose(on_first, np.broadcast_to(moved[:, :1], moved.shape), atol=1e-12)


def test_superposition_never_mirrors_and_is_the_best_rotation():
    frames = frames_of(2)
    frames[0, 1] = frames[0, 0] * [1, 1, -1]
    placed = superposed(frames)
    best = ((placed[0, 1] - placed[0, 0]) ** 2).sum()
    assert best > 0.01  # a mirror image would fit exactly
    middle = placed[0, 1].mean(0)
    for seed in range(50):
        other = (placed[0, 1] - middle) @ turned(seed).T + middle
        assert ((other - placed[0, 0]) ** 2).sum() >= best - 1e-12


def test_mean_structure_is_mean_whichever_way_the_frames_lie():
    stream = np.random.default_rng(3)
    shape = stream.normal(0, 0.3, (8, 3))
    frames = np.stack(
        [(shape + stream.normal(0, 0.01, shape.shape)) @ turned(k).T + k for k in range(40)]
    )
    mean = mean_structure(frames)
    expected = superposed(shape[None, None], mean[None, None])[0, 0]
    assert np.abs(mean - expected).max() < 0.01
