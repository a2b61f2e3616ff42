"""What `pgode models` shows: every model, its size, and what a step of it costs here."""

import time

import numpy as np
import torch

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.simulate import simulate
from pgode.models import MODELS, build_model, model_config

REPEATS = 3


def inventory() -> list[tuple[str, ...]]:
    """(name, what it is, paper, parameters, milliseconds of a training step) of every model."""
    data = simulate("springs", frames=48, train=16, val=0, test=0, ood=0)
    normaliser = Normaliser.fit(data)
    batch = Windows(data, normaliser, 12, 36).batch(np.arange(16), np.zeros(16, np.int64))
    rows: list[tuple[str, ...]] = []
    for name, entry in MODELS.items():
        model = build_model(name, model_config(name, {}), normaliser)
        size = sum(parameter.numel() for parameter in model.parameters())
        taken = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            total = model.loss(batch).total
            if size:
                torch.autograd.backward(total)
            taken.append(time.perf_counter() - began)
        cost = f"{1000 * min(taken):.0f}"
        rows.append((name, entry.description, entry.citation, f"{size:,}", cost))
    return rows
