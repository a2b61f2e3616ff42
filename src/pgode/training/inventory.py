"""The list of `pgode models`: every model, its size, and its time per training step."""

from dataclasses import dataclass

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.models import MODELS, build_model, model_config
from pgode.training.step_cost import StepCost, measure_steps

BATCH, CONDITION, HORIZON = 16, 12, 36
ROUNDS = 2


@dataclass(frozen=True)
class TimedModel:
    """One registered model with its default settings."""

    name: str
    description: str
    citation: str
    cost: StepCost


def inventory() -> list[TimedModel]:
    """Every model that can be trained, timed on Springs."""
    data = simulate("springs", frames=CONDITION + HORIZON, train=BATCH, val=0, test=0, ood=0)
    normaliser = Normaliser.fit(data)
    windows = Windows(data, normaliser, CONDITION, HORIZON)
    batch = windows.batch(np.arange(BATCH), np.zeros(BATCH, np.int64))
    models = {name: build_model(name, model_config(name, {}), normaliser) for name in MODELS}
    costs = measure_steps(models, batch, ROUNDS)
    return [
        TimedModel(name, entry.description, entry.citation, costs[name])
        for name, entry in MODELS.items()
    ]
