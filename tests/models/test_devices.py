"""Every model and preset on another device: nothing stays behind, and the numbers are the same.

See `tests.pretended_device`: an operation that mixes devices fails as it does on a GPU. Graph
operators and the motion under force laws are those in plain torch, not the compiled ones.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.pretended_device import DEVICE, Elsewhere, pretended_device
from torch import Tensor
from torch.testing import assert_close

from pgode.batches.windows import Batch
from pgode.models import MODELS, Forecast, Forecaster
from pgode.models.pgode.laws.model import ForceLaws
from pgode.models.pgode.slow.model import LawsWithMessages
from pgode.runtime.settings import merged
from pgode.training.presets import presets_of

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    f"{model}-{preset}": (model, dict(changes.get("model", {})))
    for model in MODELS
    for preset, changes in presets_of(model).items()
}
MESSAGES = {"kind": "messages"}
LOOSE = {"method": "bosh3", "rtol": 1e-2, "atol": 1e-2}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pgode-laws-with-messages": ("pgode", {"dynamics": {"kind": "laws", "messages": True}}),
    "pgode-sparse": ("pgode", {"dynamics": {**MESSAGES, "prototypes": 3, "top_k": 2}}),
    "pgode-gcn": ("pgode", {"dynamics": {**MESSAGES, "backbone": "gcn"}}),
    "pgode-sage": ("pgode", {"dynamics": {**MESSAGES, "backbone": "sage"}}),
    "pgode-groups": ("pgode", {"dynamics": MESSAGES, "gate": {"group_context": True}}),
    "pgode-adaptive": ("pgode", {"dynamics": MESSAGES, "solver": LOOSE}),
    "pgode-recomputed": ("pgode", {"dynamics": MESSAGES, "solver": {"recompute": True}}),
    "pgode-regressed": (
        "pgode",
        {"dynamics": MESSAGES, "state": {"kind": "regressed", "linear": {"lags": 3, "steps": 2}}},
    ),
    "eqmotion-all-pairs": ("eqmotion", {"pairs": "complete"}),
}
"""What no preset has, and what depends on values: in one precision."""

PAIRS = [(name, dtype) for name in CASES for dtype in (torch.float32, torch.float64)]
PAIRS += [(name, torch.float64) for name in VARIANTS]
SMALL = {"width": 8, "dynamics": {"prototypes": 2}}


@pytest.fixture
def build(make: Callable[..., Forecaster]) -> Callable[[str, torch.dtype], Forecaster]:
    """The same small model each time; force laws have some that act."""

    def built(name: str, dtype: torch.dtype) -> Forecaster:
        kind, settings = {**CASES, **VARIANTS}[name]
        model = make(kind, **(merged(SMALL, settings) if kind == "pgode" else settings)).to(dtype)
        laws = model.laws if isinstance(model, LawsWithMessages) else model
        if isinstance(laws, ForceLaws):
            random = torch.Generator().manual_seed(0)
            laws.radial.coefficients.normal_(0.0, 0.03, generator=random)
            laws.shares.fill_(0.5)
            laws.jitter.fill_(1e-3)
            laws.walls.copy_(torch.tensor([-2.0, 2.0]))
        return model

    return built


def computed(model: Forecaster, batch: Batch) -> tuple[Tensor, list[Tensor], Forecast]:
    """The loss, its gradients, and a forecast with a sample."""
    torch.manual_seed(0)
    total = model.loss(batch).total
    if total.requires_grad:
        torch.autograd.backward(total)
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    with torch.no_grad():
        return total.detach(), gradients, model.forecast(batch, batch.target_times, samples=1)


@pytest.mark.parametrize("name, dtype", PAIRS, ids=[f"{n}-{str(d)[6:]}" for n, d in PAIRS])
def test_loss_and_forecast_are_those_of_the_cpu(name, dtype, build, batch: Batch) -> None:
    given = batch.to(dtype=dtype)
    total, gradients, forecast = computed(build(name, dtype), given)
    with pretended_device():
        model, there = build(name, dtype).to(DEVICE), given.to(DEVICE)
        assert model.device == DEVICE
        other, slopes, result = computed(model, there)
        tensors = [other, *slopes, result.mean, result.samples, *result.contexts.values()]
        assert all(isinstance(each, Elsewhere) for each in tensors)
        assert len(slopes) == len(gradients)
    near = {"rtol": 1e-3, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 1e-7, "atol": 1e-9}
    assert_close(other.value, total, **near)
    for slope, gradient in zip(slopes, gradients, strict=True):
        size = max(1.0, float(gradient.abs().max()))
        assert_close(slope.value / size, gradient / size, **near)
    assert_close(result.mean.value, forecast.mean, **near)
    assert_close(result.samples.value, forecast.samples, **near)
    assert result.evaluations == forecast.evaluations
    for key, context in forecast.contexts.items():
        assert_close(result.contexts[key].value, context, **near)
    assert np.isfinite(total.numpy())
