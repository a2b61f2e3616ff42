"""Errors on the validation split: the sums of one process's part of it."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from pgode.batches.origins import Origins
from pgode.batches.windows import Windows
from pgode.models.forecaster import Forecaster
from pgode.runtime.allocation import peak_memory
from pgode.runtime.errors import SolverError


@dataclass(frozen=True)
class Validation:
    """Sums over the validation split: squared errors, their number, and the weights of gates."""

    error: float
    count: float
    gates: Float[np.ndarray, "objects prototypes"] | None
    solved: bool = True
    memory: float = 0.0
    """Peak memory in GB, of all processes."""


@torch.no_grad()
def validated(
    model: Forecaster, windows: Windows, origins: Origins, size: int, device: torch.device
) -> Validation:
    """Forecast the windows at these origins, `size` at a time."""
    total = count = 0.0
    gates, solved = [], True
    for batch in windows.batches(size, origins):
        there = batch.to(device)
        try:
            forecast = model.forecast(there, there.target_times).cpu()
        except SolverError:
            solved = False
            break
        known = batch.targets_observed
        total += float((forecast.mean - batch.targets).square()[known].double().sum())
        count += float(known.sum())
        gates += [forecast.contexts["gate"].numpy()] if "gate" in forecast.contexts else []
    weights = np.concatenate(gates) if gates else None
    return Validation(total, count, weights, solved, peak_memory())
