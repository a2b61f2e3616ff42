"""The estimated strength of interactions: correct on springs, and invariant under rotation."""

import numpy as np
import pytest
import torch
from tests.rigid_motions import in_space, moved_batch, turn, whole_vectors
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch, Windows
from pgode.data.simulate import simulate
from pgode.nn.geometry import Geometry, Motion
from pgode.nn.strength import ACCELERATION_SCALE, REGULARISER, Strength


@pytest.fixture(scope="module")
def springs() -> tuple[Strength, Motion, Batch, np.ndarray]:
    """Systems of springs with their true strengths."""
    data = simulate("springs", objects=10, frames=20, train=40, val=0, test=0, ood=0)
    normaliser = Normaliser.fit(data)
    batch = next(Windows(data, normaliser, 12, 1).batches(40)).to(dtype=torch.float64)
    torch.manual_seed(0)
    strength = Strength(8, 1).double()
    motion = Geometry(normaliser, "this").observe(batch, 12)
    return strength, motion, batch, data.parameters[:, 2]


def test_strength_of_springs_is_estimated_from_the_condition(springs):
    strength, motion, batch, known = springs
    with torch.no_grad():
        _, system = strength.estimate(motion, batch)
    assert np.corrcoef(-system[::10, 0].numpy(), known)[0, 1] > 0.97


def test_strength_is_the_least_squares_factor_of_pull_and_change(springs):
    strength, motion, batch, _ = springs
    with torch.no_grad():
        pull = strength.pull(motion.position, batch.graph)[:10] / 9
        own, system = strength.estimate(motion, batch)
    pull = (pull[:, 1:] + pull[:, :-1]) / 2
    change = ACCELERATION_SCALE * motion.velocity[:10].diff(dim=1)
    above, below = (change * pull).sum((1, 2)), pull.square().sum((1, 2))
    assert_close(own[:10, 0], above / (below + REGULARISER))
    assert_close(system[:10, 0], (above.sum() / (below.sum() + REGULARISER)).expand(10))


def test_an_untrained_pull_is_that_of_springs(springs):
    strength, motion, batch, _ = springs
    with torch.no_grad():
        pull = strength.pull(motion.position, batch.graph)[:10, 3]
    x, edges = motion.position[:10, 3], batch.graph
    expected = torch.zeros_like(x)
    for receiver, sender in zip(edges.receivers.tolist(), edges.senders.tolist(), strict=True):
        if receiver < 10:
            expected[receiver] += x[receiver] - x[sender]
    assert_close(pull, expected, rtol=0.02, atol=0.02)


def test_rotation_does_not_change_a_strength():
    normaliser, batch = in_space()
    batch = whole_vectors(batch, normaliser)
    geometry, strength = Geometry(normaliser, "this"), Strength(8, 1).double()
    turned = moved_batch(batch, normaliser, turn(3, mirror=True), torch.ones(3).double())
    with torch.no_grad():
        before, after = (strength(geometry.observe(b, 6), b) for b in (batch, turned))
    assert_close(after, before, rtol=1e-9, atol=1e-9)


def test_frames_that_were_not_seen_do_not_count(springs):
    strength, motion, batch, _ = springs
    blind = Motion(motion.position, motion.velocity, motion.value, torch.zeros_like(motion.seen))
    with torch.no_grad():
        own, system = strength.estimate(blind, batch)
    assert not own.any()
    assert not system.any()
