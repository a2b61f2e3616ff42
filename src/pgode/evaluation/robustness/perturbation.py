"""Perturb the start of a forecast, and measure how far the forecast moves."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from pgode.batches.windows import Batch
from pgode.evaluation.horizons import default_horizons
from pgode.evaluation.robustness.perturbation_growth import Norms
from pgode.models.flow import Flow
from pgode.models.forecaster import Forecaster
from pgode.runtime.choices import abridged, is_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES, LARGE, SAMPLES, SEED, SMALL

OnProgress = Callable[[float], None]
"""Called with the share of the work that is done."""

Rollout = Callable[[Tensor], tuple[Tensor, Tensor | None]]
"""From a change of the initial state to the forecast and, where the model has one, the state.

Forecast (objects, frames, features) and state (frames, objects, inputs) both include frame 0, the
perturbed start itself.
"""


@dataclass(frozen=True)
class Perturbations:
    """The perturbations that every run is subjected to, and the frames to forecast.

    `observed` perturbs the last observed frame of every model, also of those that integrate a
    state.
    """

    horizon: int
    magnitudes: tuple[float, ...] = (0.001, 0.01, 0.1)
    draws: int = 4
    seed: int = 0
    observed: bool = False

    def __post_init__(self) -> None:
        sizes = np.array(self.magnitudes, dtype=float)
        if not len(sizes) or not ((sizes >= SMALL) & (sizes <= LARGE)).all():
            raise InputError(
                f"cannot perturb by the magnitudes {', '.join(f'{m:g}' for m in sizes) or 'none'}. "
                f"Expected finite numbers above 0, from {SMALL:g} to {LARGE:g} in scaled units, "
                f"such as 0.001,0.01,0.1. Correct the magnitudes."
            )
        whole = all(map(is_int, (self.horizon, self.draws, self.seed)))
        fits = whole and 1 <= self.horizon <= FRAMES and 1 <= self.draws <= SAMPLES
        if not fits or not 0 <= self.seed <= SEED:
            raise InputError(
                f"cannot forecast {abridged(self.draws)} draws over {abridged(self.horizon)} "
                f"frames with seed {abridged(self.seed)}. Expected at least 1 draw and 1 frame, at "
                f"most {SAMPLES} draws and {FRAMES} frames, and a seed from 0 to {SEED}. Correct "
                f"draws, horizon or seed."
            )

    @property
    def horizons(self) -> tuple[int, ...]:
        """Frames at which growth is reported."""
        return tuple(default_horizons(self.horizon))


def rollout_from_state(flow: Flow, times: Float[Tensor, "systems outputs"]) -> Rollout:
    """Forecasts from a changed initial state of the model's differential equation."""

    since_start = torch.cat([torch.zeros_like(times[:, :1]), times], dim=1)

    def rollout(change: Tensor) -> tuple[Tensor, Tensor | None]:
        start = flow.initial + change
        states = torch.cat([start.unsqueeze(0), flow.solve(start, times)])
        return flow.decode(states, since_start), states

    return rollout


def rollout_from_observation(
    model: Forecaster, batch: Batch, times: Float[Tensor, "systems outputs"], seed: int
) -> tuple[Rollout, Float[Tensor, "objects features"]]:
    """Forecasts from a changed last frame of each object; and a mask of the values observed there.

    An object's last frame is the last one in which any of its features was observed.
    """
    frames = torch.arange(1, batch.states.shape[1] + 1, device=times.device)
    last = (batch.observed.any(2) * frames).amax(1).sub(1).clamp(min=0)
    rows = torch.arange(batch.objects, device=times.device)

    def rollout(change: Tensor) -> tuple[Tensor, Tensor | None]:
        states = batch.states.clone()
        states[rows, last] += change
        torch.manual_seed(seed)  # A model that draws within its mean forecast draws the same.
        mean = model.forecast(replace(batch, states=states), times).mean
        return torch.cat([states[rows, last].unsqueeze(1), mean], dim=1), None

    return rollout, batch.observed[rows, last].to(batch.states.dtype)


def difference_norms(
    rollout: Rollout,
    mask: Float[Tensor, "objects inputs"],
    perturbations: Perturbations,
    generator: torch.Generator,
    on_progress: OnProgress = lambda share: None,
) -> tuple[Norms, Norms | None]:
    """Norms of perturbed minus unperturbed, of the forecast and of the state.

    Each object is perturbed in a random direction. `mask` is 1 where a value may change; objects
    without any such value are left out.
    """
    magnitudes, draws = perturbations.magnitudes, perturbations.draws
    perturbed = mask.any(1)
    reference, reference_states = rollout(torch.zeros_like(mask))
    forecast = np.empty((len(magnitudes), draws, int(perturbed.sum()), reference.shape[1]))
    state = None if reference_states is None else np.empty_like(forecast)
    for draw in range(draws):
        # Drawn on the CPU: the same directions on every device.
        direction = torch.randn(mask.shape, generator=generator, dtype=mask.dtype).to(mask) * mask
        direction = torch.nn.functional.normalize(direction, dim=1)
        for k, magnitude in enumerate(magnitudes):
            mean, states = rollout(magnitude * direction)
            forecast[k, draw] = (mean - reference).norm(dim=2)[perturbed].cpu().numpy()
            if state is not None and states is not None and reference_states is not None:
                apart = (states - reference_states).norm(dim=2).T[perturbed]
                state[k, draw] = apart.cpu().numpy()
            on_progress((draw * len(magnitudes) + k + 1) / (draws * len(magnitudes)))
    return forecast, state


def progress_between(on_progress: OnProgress, first: float, last: float) -> OnProgress:
    """Report the progress of a part of the work, from the share `first` to the share `last`."""
    return lambda share: on_progress(first + share * (last - first))
