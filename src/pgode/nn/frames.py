"""Interpolation of histories to whole frames, and of forecasts from them to any time.

Data may be observed at uneven times and with gaps, and forecasts may be requested at any time, but
some models step from frame to frame. Models in continuous time need none of this.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from pgode.batches.windows import Batch


def whole_frames(batch: Batch, frames: int) -> Float[Tensor, "objects frames features"]:
    """The states at times -(frames - 1), ..., -1, 0, whatever the times of the observations.

    Each feature is interpolated linearly between its own observations and constant before the
    first and after the last; a feature that was never observed is 0. A regular history without
    gaps is returned unchanged.
    """
    states, observed = batch.states, batch.observed
    _, condition, features = states.shape
    wanted = torch.arange(1 - frames, 1, device=states.device, dtype=states.dtype)
    wanted = wanted.expand(batch.systems, -1).contiguous()
    # A time that rounding in float32 put just after its frame still counts as that frame.
    passed = torch.searchsorted(batch.times.contiguous(), wanted + 1e-4, right=True)
    place = passed[batch.system].unsqueeze(2).expand(-1, -1, features)
    number = torch.arange(condition, device=states.device).view(1, -1, 1)
    before = torch.where(observed, number, -1).cummax(1).values
    after = torch.where(observed, number, condition).flip(1).cummin(1).values.flip(1)
    earlier = torch.cat([torch.full_like(before[:, :1], -1), before], 1).gather(1, place)
    later = torch.cat([after, torch.full_like(after[:, :1], condition)], 1).gather(1, place)
    has_earlier, has_later = earlier >= 0, later < condition
    first = torch.where(has_earlier, earlier, later).clamp(max=condition - 1)
    second = torch.where(has_later, later, earlier).clamp(min=0)
    start, stop = _at(batch, first), _at(batch, second)
    gap = stop[1] - start[1]
    share = (wanted[batch.system].unsqueeze(2) - start[1]) / torch.where(gap > 0, gap, 1.0)
    between = torch.lerp(start[0], stop[0], torch.where(gap > 0, share.clamp(0, 1), 0.0))
    return torch.where(has_earlier | has_later, between, 0.0)


def _at(
    batch: Batch, place: Int[Tensor, "objects frames features"]
) -> tuple[Float[Tensor, "objects frames features"], Float[Tensor, "objects frames features"]]:
    """Values and times of the observations at given positions in the condition."""
    times = batch.times[batch.system].unsqueeze(2).expand(-1, -1, place.shape[2])
    return batch.states.gather(1, place), times.gather(1, place)


def frames_until(times: Float[Tensor, "systems outputs"]) -> int:
    """Number of whole frames a rollout needs to reach every time.

    While a program is exported, tensors have no numbers; its times are 1, 2, ... frames.
    """
    if torch.compiler.is_exporting():
        return times.shape[1]
    return max(1, math.ceil(float(times.max()) - 1e-6))


def between_frames(
    rollout: Float[Tensor, "objects frames+1 features"],
    times: Float[Tensor, "systems outputs"],
    batch: Batch,
) -> Float[Tensor, "objects outputs features"]:
    """Linear interpolation of a rollout, whose first entry is time 0, at any times within it."""
    when = times[batch.system]
    below = when.floor().long().clamp(min=0, max=rollout.shape[1] - 2)
    share = (when - below).unsqueeze(2)
    index = below.unsqueeze(2).expand(-1, -1, rollout.shape[2])
    return torch.lerp(rollout.gather(1, index), rollout.gather(1, index + 1), share)


def last_observed(
    batch: Batch,
) -> tuple[Float[Tensor, "objects features"], Float[Tensor, "objects features"]]:
    """Each feature's last observed value and its time (frames, at most 0); 0 if never observed."""
    frames = batch.states.shape[1]
    order = torch.arange(1, frames + 1, device=batch.states.device)
    place = (batch.observed * order[None, :, None]).amax(1)
    index = (place - 1).clamp(min=0)
    value = batch.states.gather(1, index.unsqueeze(1)).squeeze(1)
    when = batch.times[batch.system].gather(1, index)
    seen = place > 0
    return torch.where(seen, value, 0), torch.where(seen, when, 0)
