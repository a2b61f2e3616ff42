"""The memory of a training is known before it starts, and what cannot fit is refused."""

import numpy as np
import pytest
import torch
from tests.trained_runs import CONDITION, HORIZON, settings, springs, trained

from pgode.batches.windows import Windows
from pgode.models import build_model, model_config
from pgode.models.registry import MODELS
from pgode.runtime.errors import InputError
from pgode.training.config import RunConfig, run_config
from pgode.training.needs.estimate import PER_WEIGHT, refuse_step, refuse_weights, step_memory


def windows(horizon: int = HORIZON) -> Windows:
    return Windows(springs().split_of("train"), trained().normaliser, CONDITION, horizon)


def needed(config: RunConfig) -> float:
    model = build_model(config.name, model_config(config.name, config.model), trained().normaliser)
    return step_memory(model, windows(config.window.horizon), config)


def test_weights_are_counted_without_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "20GB")
    wide = settings(model_width=60_000)
    with pytest.raises(InputError, match=r"weights of pgode needs about [0-9.]+ TB .* 20 GB are"):
        refuse_weights(wide, trained().normaliser)
    refuse_weights(settings(model_width=512), trained().normaliser)


@pytest.mark.parametrize("name", [name for name, entry in MODELS.items() if entry.naive is None])
def test_every_model_can_be_counted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those whose weights are drawn in ways of their own."""
    normaliser = trained().normaliser
    monkeypatch.setenv("PGODE_MEMORY", "1KB")
    settings = {"width": 264} if "width" in model_config(name, {}).model_dump() else {}
    config = RunConfig(name=name, model=model_config(name, settings).model_dump(mode="json"))
    with pytest.raises(InputError, match=rf"weights of {name} needs about"):
        refuse_weights(config, normaliser)


def test_a_step_grows_with_its_batch_and_its_horizon() -> None:
    base = needed(settings(training_batch=1))
    weights = PER_WEIGHT * sum(each.numel() for each in trained().model.parameters())
    assert needed(settings(training_batch=8)) - weights == pytest.approx(8 * (base - weights))
    longer = needed(settings(training_batch=1, window_horizon=12))
    assert base < longer < 2.2 * base


def test_the_estimate_is_near_what_autograd_keeps() -> None:
    """Counted on one system over two frames, compared with all systems over the whole horizon."""
    config = settings(training_batch=8)
    model = build_model("pgode", model_config("pgode", config.model), trained().normaliser)
    held: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        held[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    batch = windows().batch(np.arange(8), np.zeros(8, np.int64))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model.loss(batch)
    kept = sum(each.untyped_storage().nbytes() for each in held.values())
    assert 0.5 < step_memory(model, windows(), config) / kept < 3


def test_a_step_beyond_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "100KB")
    config = settings(training_batch=8)
    model = build_model("pgode", model_config("pgode", config.model), trained().normaliser)
    with pytest.raises(InputError, match="a training step of 8 systems of 3 objects and 12 frames"):
        refuse_step(model, windows(), config)


def test_laws_that_take_no_gradient_steps_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "1KB")
    config = run_config()
    model = build_model("pgode", model_config("pgode", config.model), trained().normaliser)
    refuse_step(model, windows(), config)
