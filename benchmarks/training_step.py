"""The case behind the speed and memory figures, and one step of training on it.

Paper size: 1000 systems of 10 objects, condition 12, horizon 36, K = 5, d = 128, batch 256.
"""

from typing import Any

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.models.forecaster import Forecaster
from pgode.models.pgode import PGODE, PGODEConfig

EPOCH, OBJECTS, CONDITION, HORIZON, BATCH = 1000, 10, 12, 36, 256


def training_systems(kind: str, systems: int, horizon: int = HORIZON) -> Trajectories:
    """Simulated training systems, with only the frames that a step at this horizon needs."""
    frames = CONDITION + horizon
    return simulate(kind, objects=OBJECTS, frames=frames, train=systems, val=0, test=0, ood=0)


def fresh_model(data: Trajectories, changes: dict[str, Any] | None = None) -> PGODE:
    """PGODE of the default preset, or with some settings changed; always the same weights."""
    torch.manual_seed(0)
    return PGODE(PGODEConfig.model_validate(changes or {}), Normaliser.fit(data))


class Training:
    """A model in training, step by step as in `pgode.training.loop`.

    A step cuts its batch, computes loss and gradients, clips, and applies both optimisers: the
    adversary's ascends the loss that all other weights descend.
    """

    def __init__(self, model: Forecaster, data: Trajectories) -> None:
        self.model, self.data = model, data
        self.windows: dict[int, Windows] = {}
        adversary = list(model.adversary())
        excluded = {id(parameter) for parameter in adversary}
        self.parameters = [p for p in model.parameters() if id(p) not in excluded]
        self.optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(self.parameters, 1e-4, eps=1e-12)
        ]
        if adversary:
            self.optimisers.append(torch.optim.Adam(adversary, 1e-4, eps=1e-12, maximize=True))

    def step(self, systems: int, horizon: int) -> float:
        """One step on the first systems; returns the loss before it."""
        if horizon not in self.windows:
            self.windows[horizon] = Windows(self.data, self.model.normaliser, CONDITION, horizon)
        batch = self.windows[horizon].batch(np.arange(systems), np.zeros(systems, np.int64))
        for optimiser in self.optimisers:
            optimiser.zero_grad(set_to_none=True)
        total = self.model.loss(batch).total
        torch.autograd.backward(total)
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
        return total.item()
