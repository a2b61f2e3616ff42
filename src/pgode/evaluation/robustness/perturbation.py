"""Perturb what a forecast starts from, and see how far the forecast moves."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.evaluation.robustness.perturbation_growth import Norms
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecaster
from pgode.runtime.errors import InputError

Told = Callable[[float], None]
"""Hears the share of the work that is done."""

Ahead = Callable[[Tensor], tuple[Tensor, Tensor | None]]
"""From a change of the initial state to the forecast, and to the states if the model has them.

Both have a frame 0, at which nothing has moved yet.
"""


@dataclass(frozen=True)
class Perturbations:
    """What is asked of every run."""

    magnitudes: tuple[float, ...] = (0.001, 0.01, 0.1)
    horizon: int = 36
    draws: int = 4
    seed: int = 0
    observed: bool = False

    def __post_init__(self) -> None:
        sizes = np.array(self.magnitudes, dtype=float)
        if not len(sizes) or not np.isfinite(sizes).all() or (sizes <= 0).any():
            raise InputError(
                f"cannot perturb by the magnitudes {', '.join(f'{m:g}' for m in sizes) or 'none'}. "
                f"Expected finite numbers above 0, in scaled units, such as 0.001,0.01,0.1. "
                f"Correct --magnitudes."
            )
        if self.horizon < 1 or self.draws < 1 or not 0 <= self.seed < 2**63:
            raise InputError(
                f"cannot follow {self.draws} draws over {self.horizon} frames with seed "
                f"{self.seed}. Expected at least 1 draw and 1 frame, and a seed from 0 to "
                f"{2**63 - 1}. Correct --draws, --horizon or --seed."
            )

    @property
    def horizons(self) -> list[int]:
        """Frames whose growth is reported."""
        return [h for h in (12, 24, 36) if h < self.horizon] + [self.horizon]


def from_state(opened: Flow, times: Float[Tensor, "systems outputs"]) -> Ahead:
    """Perturb the state that is integrated."""

    def ahead(change: Tensor) -> tuple[Tensor, Tensor | None]:
        start = opened.initial + change
        states = torch.cat([start.unsqueeze(0), opened.solve(start, times)])
        return opened.decode(states), states

    return ahead


def from_observation(
    model: Forecaster, batch: Batch, times: Float[Tensor, "systems outputs"], seed: int
) -> tuple[Ahead, Float[Tensor, "objects features"]]:
    """Perturb what was observed in each object's last frame; and which values that are."""
    frames = torch.arange(1, batch.states.shape[1] + 1)
    last = (batch.observed.any(2) * frames).amax(1).sub(1).clamp(min=0)
    rows = torch.arange(batch.objects)

    def ahead(change: Tensor) -> tuple[Tensor, Tensor | None]:
        states = batch.states.clone()
        states[rows, last] += change
        torch.manual_seed(seed)  # A model that draws within its mean forecast draws the same.
        mean = model.forecast(replace(batch, states=states), times).mean
        return torch.cat([states[rows, last].unsqueeze(1), mean], dim=1), None

    return ahead, batch.observed[rows, last].to(batch.states.dtype)


def spread(
    ahead: Ahead,
    free: Float[Tensor, "objects inputs"],
    asked: Perturbations,
    generator: torch.Generator,
    told: Told = lambda share: None,
) -> tuple[Norms, Norms | None]:
    """Norms of the difference that perturbations make, in the forecast and in the state.

    `free` is 1 where a value may be changed; objects of which none may are left out.
    """
    moved = free.any(1)
    plain, plain_states = ahead(torch.zeros_like(free))
    forecast = np.empty((len(asked.magnitudes), asked.draws, int(moved.sum()), plain.shape[1]))
    state = None if plain_states is None else np.empty_like(forecast)
    for draw in range(asked.draws):
        direction = torch.randn(free.shape, generator=generator, dtype=free.dtype) * free
        direction = torch.nn.functional.normalize(direction, dim=1)
        for k, magnitude in enumerate(asked.magnitudes):
            other, states = ahead(magnitude * direction)
            forecast[k, draw] = (other - plain).norm(dim=2)[moved].numpy()
            if state is not None and states is not None and plain_states is not None:
                state[k, draw] = (states - plain_states).norm(dim=2).T[moved].numpy()
            done = draw * len(asked.magnitudes) + k + 1
            told(done / (asked.draws * len(asked.magnitudes)))
    return forecast, state


def part_of(told: Told, first: float, last: float) -> Told:
    """Progress of a part of the work."""
    return lambda share: told(first + share * (last - first))
