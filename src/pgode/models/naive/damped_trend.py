"""A trend that fades: a strong simple forecast of most series."""

import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Batch
from pgode.models.naive.extrapolation import Naive
from pgode.nn.frames import last_observed

RECENT = 4
"""Frames before the forecast from which the slope is estimated."""
DAMPING = 0.9
"""Share of the slope that is left after each frame."""


class DampedTrend(Naive):
    """Every feature continues its recent slope, which shrinks by a tenth with each frame.

    The slope is that of the least-squares line through the observations of the last four frames,
    and 0 where there are fewer than two. After t frames a feature has moved by
    slope (d + d^2 + ... + d^t) with d = 0.9, at most by nine slopes. Needs no roles of features.
    """

    @classmethod
    def suits(cls, normaliser: Normaliser, condition: int) -> bool:
        """A slope needs two observations."""
        return condition > 1

    def extrapolate(
        self, batch: Batch, times: Float[Tensor, "systems outputs"]
    ) -> Float[Tensor, "objects outputs features"]:
        """Move each feature from the time of its last observation."""
        value, when = last_observed(batch)
        elapsed = times[batch.system].unsqueeze(2) - when.unsqueeze(1)
        travelled = DAMPING * (1 - DAMPING**elapsed) / (1 - DAMPING)
        return value.unsqueeze(1) + recent_slope(batch).unsqueeze(1) * travelled


def recent_slope(batch: Batch) -> Float[Tensor, "objects features"]:
    """Slope per frame of the least-squares line through the last observations of each feature."""
    seen = batch.observed[:, -RECENT:].to(batch.states.dtype)
    values = batch.states[:, -RECENT:]
    clock = batch.times[:, -RECENT:][batch.system].unsqueeze(2)
    count = seen.sum(1).clamp(min=1)
    centred = (clock - ((clock * seen).sum(1) / count).unsqueeze(1)) * seen
    spread = centred.square().sum(1)
    # Values that were not observed have weight 0 whatever they are.
    moment = (centred * torch.where(batch.observed[:, -RECENT:], values, 0)).sum(1)
    return torch.where(spread > 0, moment / torch.where(spread > 0, spread, 1), 0)
