"""Positions and velocities as vectors, and back, against values worked out by hand."""

import numpy as np
import torch
from tests.rigid_motions import in_space
from tests.small_systems import uneven
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.trajectories import Trajectories
from pgode.nn.geometry import Geometry, Motion, norm, pair_share, system_sum


def line(observed: list[int], *, velocity: bool) -> tuple[Normaliser, Batch]:
    """One object at x = 0, 1, 4, 9, 16, 25 of frames 0.5 apart, with v = 10, ..., 15 or without."""
    frames = np.arange(6.0)
    seen = np.isin(np.arange(6), observed)[None, None, :, None]
    data = Trajectories.build(
        np.stack([frames**2, 10 + frames], axis=1)[None, None, :, : 1 + velocity],
        frames * 0.5,
        edges=np.zeros((1, 1, 1)),
        features=("x", "v")[: 1 + velocity],
        roles=("position", "velocity")[: 1 + velocity],
        observed=np.repeat(seen, 1 + velocity, axis=3) | (np.arange(6) == 5)[:, None],
    )
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, 5, 1).batches(1))
    return normaliser, batch.to(dtype=torch.float64)


def raw(normaliser: Normaliser, geometry: Geometry, motion: Motion) -> list[list[float]]:
    return normaliser.raw(geometry.features(motion).numpy())[0].T.round(4).tolist()


def test_outside_its_observations_a_position_moves_with_its_velocity():
    normaliser, batch = line([1, 2], velocity=True)
    geometry = Geometry(normaliser, "this")
    motion = geometry.observe(batch, 5)
    # A velocity of 11 is 5.5 per frame, one of 12 is 6.
    assert raw(normaliser, geometry, motion) == [[-4.5, 1, 4, 10, 16], [11, 11, 12, 12, 12]]
    assert motion.seen.tolist() == [[0, 1, 1, 0, 0]]


def test_without_named_velocities_the_slope_is_the_velocity():
    normaliser, batch = line([1, 2, 4], velocity=False)
    geometry = Geometry(normaliser, "this")
    motion = geometry.observe(batch, 5)
    assert raw(normaliser, geometry, motion) == [[-2, 1, 4, 10, 16]]
    length = normaliser.scale[0]
    assert_close(
        motion.velocity[0, :, 0] * geometry.gain * length, torch.tensor([3.0, 3, 3, 6, 6]).double()
    )


def test_objects_at_rest_have_velocity_zero():
    normaliser, batch = line([0, 1, 2, 3, 4], velocity=True)
    geometry = Geometry(normaliser, "this")
    velocity = geometry.observe(batch, 5).velocity[0, :, 0] * normaliser.scale[1]
    assert_close(velocity, torch.arange(10.0, 15.0).double(), rtol=1e-6, atol=1e-6)


def test_features_are_returned_in_their_order():
    normaliser, batch = in_space()
    geometry = Geometry(normaliser, "this")
    back = geometry.features(geometry.observe(batch, 5))
    assert_close(back[batch.observed], batch.states[batch.observed])


def test_object_that_was_never_seen_is_in_the_middle_of_its_system():
    data = uneven()
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, 4, 3).batches(5)).to(dtype=torch.float64)
    motion = Geometry(normaliser, "this").observe(batch, 4)
    (never,) = torch.nonzero(~batch.observed.any(-1).any(-1))[:, 0]
    others = batch.system == batch.system[never]
    others[never] = False
    assert_close(motion.position[never], motion.position[others].mean(0))
    assert not motion.velocity[never].any() and not motion.seen[never].any()


def test_sums_and_shares_are_those_of_each_objects_system():
    data = uneven()
    batch = next(Windows(data, Normaliser.fit(data), 4, 3).batches(5))
    ones = torch.ones(batch.objects, 1)
    assert system_sum(ones, batch)[:, 0].tolist() == [4] * 4 + [2] * 2 + [3] * 3 + [4] * 4 + [1]
    expected = [1 / 3] * 4 + [1] * 2 + [1 / 2] * 3 + [1 / 3] * 4 + [1]
    assert_close(pair_share(batch)[:, 0], torch.tensor(expected))


def test_norm_has_a_gradient_at_zero():
    x = torch.zeros(2, 3, requires_grad=True)
    norm(x).sum().backward()
    assert_close(x.grad, torch.zeros(2, 3))
