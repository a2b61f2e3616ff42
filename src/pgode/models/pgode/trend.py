"""Straight motion, the base of a forecast of positions without named velocities."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from pgode.batches.windows import Batch
from pgode.nn.frames import last_observed
from pgode.nn.initialisation import scaled

MEMORY = 3.0
"""Frames after which an observation counts 1/e as much for the line, before training."""
SHORTEST = 0.3
"""Of a shorter memory, the line through the last two observations is all that is left."""
START = 0.01
"""Factor on the initial weights of the share: untrained, objects keep their velocity."""


class Trend(nn.Module):
    """The line through an object's last observations, continued from the last of them.

        a_i - x_i(last) + (1 + W z_i(t)) b_i (t - t_last)

    with a_i + b_i (t - t_last) the least-squares line of each position, in which an observation of
    age s counts exp(-s / memory). The memory is learned: it is long where observations are noisy
    and short where paths bend. The share 1 + W z_i(t) of the slope is learned too, because objects
    that swing do not move on.
    """

    def __init__(self, width: int, positions: list[int]) -> None:
        super().__init__()
        self.positions = positions
        self.log_memory = nn.Parameter(torch.tensor(math.log(MEMORY)))
        self.share = scaled(nn.Linear(width, 1), START)

    def forward(
        self,
        states: Float[Tensor, "outputs objects width"],
        batch: Batch,
        times: Float[Tensor, "systems outputs"],
    ) -> Float[Tensor, "outputs objects features"]:
        """The change of each position since its last observation; 0 for other features."""
        value, when = (each[:, self.positions] for each in last_observed(batch))
        level, slope = self.line(batch)
        elapsed = times[batch.system].T.unsqueeze(2) - when
        moved: Tensor = (level - value) + (1 + self.share(states)) * slope * elapsed
        change = moved.new_zeros(*moved.shape[:2], batch.states.shape[2])
        change[..., self.positions] = moved
        return change

    def line(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "objects positions"], Float[Tensor, "objects positions"]]:
        """a and b; the last value and 0 where there are fewer than two observations."""
        seen = batch.observed[..., self.positions]
        value, when = (each[:, None, self.positions] for each in last_observed(batch))
        # Relative to the last observation: differences of large numbers would lose digits.
        age = batch.times[batch.system].unsqueeze(2) - when
        offset = torch.where(seen, batch.states[..., self.positions] - value, 0)
        memory = self.log_memory.clamp(min=math.log(SHORTEST)).exp()
        weight = seen * torch.exp(torch.where(seen, age, 0) / memory)
        weight = weight / weight.sum(1, keepdim=True).clamp(min=1e-6)
        mean_age, mean = (weight * age).sum(1), (weight * offset).sum(1)
        spread = (weight * (age - mean_age.unsqueeze(1)).square()).sum(1)
        along = (weight * (age - mean_age.unsqueeze(1)) * offset).sum(1)
        moves = seen.sum(1) > 1
        slope = torch.where(moves, along / torch.where(moves, spread, 1.0), 0.0)
        return value[:, 0] + mean - slope * mean_age, slope
