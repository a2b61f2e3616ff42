"""The past as the base of a forecast."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.data.test_molecules import ATOMS, molecule
from tests.rigid_motions import in_space, moved, turn
from torch.testing import assert_close

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.molecules import Preparation, prepare
from pgode.data.superposition import superposed as superposed_molecule
from pgode.models.pgode.history_readout import AGES, HistoryReadout, superposed
from pgode.nn.frames import last_observed

WIDTH = 6


@pytest.fixture(scope="module")
def space():
    return in_space(velocities=False)


def evenly(normaliser, *, kind):
    """A recall whose weights are 1 for one kind of past and 0 for the other."""
    made = HistoryReadout(
        WIDTH, normaliser, list(range(len(normaliser.features))), mean_structure=True
    ).double()
    with torch.no_grad():
        made.weigh.weight.zero_()
        made.weigh.bias.zero_()
        made.weigh.bias[(kind + 1) * AGES - 1] = 1.0  # the slowest cosine: 1 over a few frames
    return made


def recalled(recall, batch):
    states = torch.zeros(2, batch.objects, WIDTH, dtype=torch.float64)
    with torch.no_grad():
        return recall(states, last_observed(batch)[0], batch)


def test_even_weights_recall_the_mean_of_what_was_observed(space):
    """A frame without a value counts as the last one."""
    normaliser, batch = space
    last = last_observed(batch)[0]
    seen = torch.where(batch.observed, batch.states, last.unsqueeze(1))
    expected = (seen.mean(1) - last).expand(2, -1, -1)
    assert not batch.observed.all()
    assert_close(recalled(evenly(normaliser, kind=0), batch), expected, atol=1e-4, rtol=1e-4)


def test_what_moved_as_a_rigid_body_is_recalled_as_if_it_had_not_moved(space):
    normaliser, batch = space
    positions, frames = normaliser.positions, batch.states.shape[1]
    shape = batch.states[:, -1]
    steps = [
        moved(shape, normaliser, turn(3, mirror=False, seed=k), torch.full((3,), 0.3 * k))
        for k in range(1, frames)
    ]
    states = torch.stack([*steps, shape], dim=1)
    batch = replace(batch, states=states, observed=torch.ones_like(batch.observed))
    own, turned = (recalled(evenly(normaliser, kind=k), batch)[..., positions] for k in (0, 1))
    assert own.abs().max() > 0.1
    assert_close(turned, torch.zeros_like(turned), atol=1e-9, rtol=0)


def test_a_mirror_image_is_not_taken_for_a_rotation(space):
    normaliser, batch = space
    states = batch.states.clone()
    mirrored = moved(states[:, -1], normaliser, turn(3, mirror=True), torch.zeros(3))
    states[:, 0] = mirrored
    batch = replace(batch, states=states, observed=torch.ones_like(batch.observed))
    found = recalled(evenly(normaliser, kind=1), batch)[..., normaliser.positions]
    assert found.abs().max() > 1e-3


def test_frames_are_superposed_as_those_of_molecules_are(space):
    _, batch = space
    place = torch.randn(batch.objects, 5, 3, dtype=torch.float64)
    there = torch.ones(batch.objects, 5, 1, dtype=torch.bool)
    found = superposed(place, place[:, -1], there, batch)
    for system in range(batch.systems):
        own = batch.system == system
        frames = place[own].transpose(0, 1).numpy()[None]
        expected = superposed_molecule(frames, frames[:, -1:])[0]
        assert_close(found[own].transpose(0, 1), torch.from_numpy(expected))


def test_values_that_are_no_positions_are_recalled_once(space):
    normaliser, batch = space
    recall = HistoryReadout(
        WIDTH, normaliser, [normaliser.features.index("charge")], mean_structure=True
    ).double()
    assert recall.weigh.out_features == AGES
    assert recalled(recall, batch).shape == (2, batch.objects, 1)


def test_a_molecule_goes_to_its_mean_structure_wherever_it_lies():
    """With a weight of 1, all the way; and not at all where the molecule is another one."""
    stream = np.random.default_rng(0)
    shape = stream.normal(0, 0.2, (1, 1, len(ATOMS), 3))
    frames = shape + stream.normal(0, 0.02, (3, 8, len(ATOMS), 3))
    turned = np.stack(
        [each @ turn(3, mirror=False, seed=k).numpy() for k, each in enumerate(frames)]
    )
    data = prepare(turned, np.arange(8) * 0.2, molecule(), Preparation(align="raw"), {})
    normaliser = Normaliser.fit(data)
    batch = Windows(data, normaliser, 5, 3).batch(np.arange(3), np.zeros(3, int))
    batch = batch.to(dtype=torch.float64)
    recall = evenly(normaliser, kind=0)
    assert recall.relax is not None
    with torch.no_grad():
        recall.weigh.bias.zero_()
        recall.relax.weight.zero_()
        recall.relax.bias.fill_(1.0)
    last = last_observed(batch)[0]
    found = normaliser.raw((last + recalled(recall, batch)[0]).numpy())
    observed = normaliser.raw(last.numpy())
    for system in range(3):
        own = batch.system.numpy() == system
        onto = observed[own][None, None]
        expected = superposed_molecule(shape, onto)[0, 0]
        assert np.abs(found[own] - expected).max() < 0.03
        assert np.abs(observed[own] - expected).max() > np.abs(found[own] - expected).max()
    other = replace(batch, reference=batch.reference[:, :0])
    assert not recalled(recall, other).any()
    still = HistoryReadout(WIDTH, normaliser, normaliser.positions, mean_structure=False)
    assert still.relax is None
