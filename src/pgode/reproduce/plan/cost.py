"""What an epoch costs: all models in one process, step by step in turn (the paper's Table 15)."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from pgode import __version__
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data import files
from pgode.models import Forecaster, build_model, model_config
from pgode.reproduce.plan.budgets import BUDGETS
from pgode.reproduce.plan.datasets import data_file
from pgode.reproduce.plan.trials import Trial
from pgode.reproduce.tables.catalogue import Experiment, Row
from pgode.runtime.files import write_json

ROUNDS = 5


def cost_file(dataset: str, budget: str, root: Path) -> Path:
    """Where the measurement of a data set is kept."""
    return root / "results" / f"cost-{dataset}-{budget}.json"


def measure_cost(
    experiment: Experiment, dataset: str, budget: str, root: Path, say: Callable[[str], None]
) -> dict[str, Any]:
    """Time the training steps of every row on a data set, and write them down.

    A machine's load changes from minute to minute, so the models take turns and the median of
    each one's steps counts. Horizon 36, batch 16, as the trials are trained.
    """
    data = files.read(data_file(dataset, budget, root)).split_of("train")
    normaliser = Normaliser.fit(data)
    models = {row.label: _fresh(row, dataset, budget, normaliser) for row in experiment.rows}
    size, steps = 16, math.ceil(BUDGETS[budget].train / 16)
    windows = Windows(data, normaliser, 12, 36)
    chosen = np.arange(min(size, len(windows)))
    batch = windows.batch(chosen, np.zeros_like(chosen))
    taken: dict[str, list[float]] = {label: [] for label in models}
    for turn in range(ROUNDS + 1):  # The first turn compiles kernels and does not count.
        for label, (model, optimiser) in models.items():
            say(f"{dataset}, turn {turn} of {ROUNDS}: {label}")
            began = time.perf_counter()
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(model.loss(batch).total)
            optimiser.step()
            taken[label] += [time.perf_counter() - began] if turn else []
    result = {
        "dataset": dataset,
        "threads": torch.get_num_threads(),
        "pgode": __version__,
        "steps_per_epoch": steps,
        "rows": {
            label: {
                "seconds": steps * median(seconds),
                "parameters": sum(p.numel() for p in models[label][0].parameters()),
            }
            for label, seconds in taken.items()
        },
    }
    write_json(cost_file(dataset, budget, root), result)
    return result


def _fresh(
    row: Row, dataset: str, budget: str, normaliser: Normaliser
) -> tuple[Forecaster, torch.optim.Optimizer]:
    config = Trial(dataset, budget, row.model, row.preset, row.settings).config(None)
    torch.manual_seed(0)
    model = build_model(config.name, model_config(config.name, config.model), normaliser)
    return model, torch.optim.AdamW(model.parameters(), 1e-4)
