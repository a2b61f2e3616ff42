"""The cost of a training step of several models, measured side by side."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

import torch

from pgode.batches.windows import Batch
from pgode.models import Forecaster


@dataclass(frozen=True)
class StepCost:
    """The size of a model and the seconds of its training steps."""

    parameters: int
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median seconds of a step."""
        return median(self.seconds)


def measure_steps(
    models: Mapping[str, Forecaster],
    batch: Batch,
    rounds: int,
    on_progress: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, StepCost]:
    """Time `rounds` training steps of each model on one batch, after a warm-up step.

    The warm-up compiles kernels. The load of a machine changes from minute to minute, so the
    models take turns.
    """
    optimisers = {name: _optimiser(model) for name, model in models.items()}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for turn in range(rounds + 1):
        for name, model in models.items():
            on_progress(f"turn {turn} of {rounds}: {name}")
            began = clock()
            _step(model, optimisers[name], batch)
            seconds[name] += [clock() - began] if turn else []
    return {
        name: StepCost(sum(p.numel() for p in model.parameters()), tuple(seconds[name]))
        for name, model in models.items()
    }


def _optimiser(model: Forecaster) -> torch.optim.Optimizer | None:
    """None for a model that learns nothing."""
    parameters = list(model.parameters())
    return torch.optim.AdamW(parameters, 1e-4) if parameters else None


def _step(model: Forecaster, optimiser: torch.optim.Optimizer | None, batch: Batch) -> None:
    if optimiser is None:
        model.loss(batch)
        return
    optimiser.zero_grad(set_to_none=True)
    torch.autograd.backward(model.loss(batch).total)
    optimiser.step()
