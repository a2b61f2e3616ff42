"""How strongly each term of a loss pulls at a model's encoders."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from pgode.batches.devices import random_devices
from pgode.batches.windows import Batch
from pgode.models.forecaster import Forecaster

GradientNorms = dict[str, dict[str, float]]
"""By encoder and term."""

SHARE = 100
"""One system in this many is measured: about one percent of the cost of an epoch."""


def measured_systems(systems: int, batch: int) -> int:
    """How many systems to measure with: at least two, since information needs other pairs."""
    return min(max(2, systems // SHARE), batch, systems)


def gradient_norms(model: Forecaster, batch: Batch, seed: int) -> GradientNorms:
    """The norm of the gradient of each term on each encoder; empty for a model without encoders.

    Leaves gradients and the state of random numbers as they are. Norms that are not finite are left
    out.
    """
    encoders = {
        name: [p for p in module.parameters() if p.requires_grad]
        for name, module in model.encoders().items()
    }
    if not encoders:
        return {}
    parameters = [each for group in encoders.values() for each in group]
    with torch.random.fork_rng(random_devices(model.device)):
        torch.manual_seed(seed)
        terms = model.loss(batch).terms
    norms: GradientNorms = {name: {} for name in encoders}
    for term, value in terms.items():
        if term == "mse" or not value.requires_grad:
            continue
        slopes = torch.autograd.grad(value, parameters, retain_graph=True, allow_unused=True)
        for name, group in encoders.items():
            own, slopes = slopes[: len(group)], slopes[len(group) :]
            if math.isfinite(norm := _norm(own)):
                norms[name][term] = norm
    return norms


def _norm(slopes: Sequence[Tensor | None]) -> float:
    known = [slope for slope in slopes if slope is not None]
    return float(torch.nn.utils.get_total_norm(known)) if known else 0.0
