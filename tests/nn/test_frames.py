"""Histories at whole frames and rollouts between them, against numpy's interpolation."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.small_systems import CONDITION
from torch.testing import assert_close

from pgode.batches.windows import Batch
from pgode.nn.frames import between_frames, frames_until, whole_frames

REGULAR = 1


def interpolated(batch: Batch, frames: int) -> torch.Tensor:
    """One object and one feature at a time; numpy too is constant outside."""
    states = torch.zeros(batch.objects, frames, batch.states.shape[2]).double()
    wanted = np.arange(1 - frames, 1)
    for i in range(batch.objects):
        times = batch.times[batch.system[i]].numpy()
        for k in range(batch.states.shape[2]):
            seen = batch.observed[i, :, k].numpy()
            if seen.any():
                values = batch.states[i, :, k].numpy()[seen]
                states[i, :, k] = torch.from_numpy(np.interp(wanted, times[seen], values))
    return states


def test_regular_history_without_gaps_is_returned_unchanged(batch):
    here = batch.system == REGULAR
    assert batch.observed[here].all()
    assert torch.equal(whole_frames(batch, CONDITION)[here], batch.states[here])
    assert torch.equal(whole_frames(batch, 2)[here], batch.states[here, -2:])


@pytest.mark.parametrize("frames", [1, 3, CONDITION, 9])
def test_each_feature_is_interpolated_between_its_own_observations(batch, frames):
    assert not batch.observed.all()
    assert_close(whole_frames(batch, frames), interpolated(batch, frames))


def test_feature_that_was_never_seen_is_zero_beside_others_that_were(batch):
    observed = batch.observed.clone()
    observed[0, :, 2] = False
    hidden = replace(batch, observed=observed)
    result = whole_frames(hidden, CONDITION)
    assert not result[0, :, 2].any()
    assert_close(result, interpolated(hidden, CONDITION))


def test_object_that_was_never_seen_is_zero(batch):
    never = ~batch.observed.any(-1).any(-1)
    assert never.sum() == 1
    assert not whole_frames(batch, 6)[never].any()


def test_values_that_were_not_observed_have_no_influence(batch):
    spoilt = torch.where(batch.observed, batch.states, torch.full_like(batch.states, 1e3))
    result = whole_frames(replace(batch, states=spoilt), CONDITION)
    assert torch.equal(result, whole_frames(batch, CONDITION))


def test_history_of_one_frame_is_constant(batch):
    one = replace(
        batch,
        states=batch.states[:, -1:],
        observed=batch.observed[:, -1:],
        times=batch.times[:, -1:],
    )
    result = whole_frames(one, 3)
    expected = torch.where(one.observed, one.states, 0).expand(-1, 3, -1)
    assert torch.equal(result, expected)


def test_time_that_rounding_put_after_its_frame_still_counts_as_that_frame(batch):
    here = batch.system == REGULAR
    late = replace(batch, times=batch.times + 1e-6 * (batch.times < 0))
    result = whole_frames(late, CONDITION)[here]
    assert torch.equal(result, batch.states[here])


@pytest.mark.parametrize(
    "times, frames",
    [([[0.0]], 1), ([[0.3, 1.0]], 1), ([[1.0], [1.2]], 2), ([[3.0 + 1e-7]], 3), ([[7.01]], 8)],
)
def test_rollout_reaches_the_last_requested_time(times, frames):
    assert frames_until(torch.tensor(times, dtype=torch.float64)) == frames


def test_rollout_at_whole_times_is_the_rollout(batch):
    rollout = torch.randn(batch.objects, 5, 3).double()
    whole = torch.arange(5.0).double().expand(5, -1)
    assert_close(between_frames(rollout, whole, batch), rollout)


def test_rollout_between_frames_is_interpolated_linearly_at_the_times_of_each_system(batch):
    rollout = torch.randn(batch.objects, 5, 3).double()
    own = torch.tensor([[0.25, 3.5], [1.0, 1.75], [0.0, 4.0], [3.9, 4.0], [2.5, 2.5]]).double()
    result = between_frames(rollout, own, batch)
    for i in range(batch.objects):
        for k in range(3):
            line = np.interp(own[batch.system[i]].numpy(), np.arange(5), rollout[i, :, k].numpy())
            assert_close(result[i, :, k], torch.from_numpy(line))
