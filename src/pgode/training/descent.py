"""Optimisers, and their learning rate over the steps of a run."""

import math

import torch
from torch import nn

from pgode.models.forecaster import Forecaster
from pgode.training.config import TrainingConfig

WARM_UP = 0.1
"""Share of the steps in which a one-cycle schedule rises."""


def learning_rate(schedule: str, peak: float, step: int, steps: int) -> float:
    """The rate of step `step` out of `steps`."""
    done = step / max(steps, 1)
    if schedule == "constant":
        return peak
    if schedule == "one-cycle":
        if done < WARM_UP:
            return peak * (0.04 + 0.96 * _cosine(1 - done / WARM_UP))
        done = (done - WARM_UP) / (1 - WARM_UP)
    return peak * (1e-4 + (1 - 1e-4) * _cosine(done))


def _cosine(done: float) -> float:
    """Falls smoothly from 1 at 0 to 0 at 1."""
    return 0.5 * (1 + math.cos(math.pi * min(max(done, 0.0), 1.0)))


def optimisers_for(
    model: Forecaster, parameters: list[nn.Parameter], settings: TrainingConfig
) -> dict[str, torch.optim.Optimizer]:
    """One that descends, and one that ascends for the adversary if the model has one.

    Losses are squared errors, whose gradients become far smaller than Adam's usual epsilon.
    """
    kind = torch.optim.AdamW if settings.optimiser == "adamw" else torch.optim.Adam
    decay = settings.weight_decay if settings.optimiser == "adamw" else 0.0
    optimisers: dict[str, torch.optim.Optimizer] = {}
    if parameters:
        optimisers["optimiser"] = kind(
            parameters, settings.learning_rate, eps=1e-12, weight_decay=decay
        )
    adversary = list(model.adversary())
    if adversary:
        optimisers["adversary"] = torch.optim.Adam(
            adversary, settings.adversary_rate, eps=1e-12, maximize=True
        )
    return optimisers
