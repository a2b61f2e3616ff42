"""The memory of a training: its weights, counted without making them, and one step of it.

A process that runs out of memory is killed without a word, perhaps hours later, when a curriculum
reaches its longest horizon. The estimate is meant to be right within a factor of two or three
(`python -m benchmarks.memory_needs` compares it with what trainings took), and only what is clearly
beyond the machine is refused.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.errors import SolverError
from pgode.runtime.memory import refuse_beyond_memory
from pgode.training.config import RunConfig

PER_WEIGHT = 20.0
"""Bytes for each weight: itself, its gradient, the two moments of Adam, and a copy being saved."""
COMMON = 256
"""Models whose numbers are all up to this have weights that fit everywhere; counting takes time."""
PROBED = (1, 2)
"""Horizons, in frames, of the two steps from which longer ones are extrapolated."""
TEMPORARY = 1.3
"""Memory of a step against what it keeps for the backward pass; gradients pass through as much."""
CLEARLY = 1.5
"""A step is refused if it would need this many times the memory there is."""


def refuse_weights(config: RunConfig, normaliser: Normaliser) -> None:
    """Refuse settings whose weights alone do not fit, before one of them is made."""
    if max(_numbers(config.model), default=0) <= COMMON:
        return
    with torch.device("meta"), _Unset():
        model = build_model(config.name, model_config(config.name, config.model), normaliser)
    weights = sum(each.numel() for each in model.parameters())
    refuse_beyond_memory(
        PER_WEIGHT * weights,
        f"training the {weights:,} weights of {config.name}",
        "Make the model smaller: its width, layers or prototypes (--set model.width=...).",
    )


def refuse_step(model: Forecaster, training: Windows, config: RunConfig) -> None:
    """Refuse batches and horizons of which one training step does not fit."""
    needed = step_memory(model, training, config)
    frames = config.window.condition + config.window.horizon
    batch = min(config.training.batch, len(training))
    refuse_beyond_memory(
        needed / CLEARLY,
        f"a training step of {batch} systems of {training.data.objects} objects and {frames} "
        f"frames",
        "Train with a smaller batch (--set training.batch=...), a shorter horizon (--horizon) or a "
        "narrower model, or store less (--set model.solver.recompute=true, where the model has "
        "it).",
    )


def step_memory(model: Forecaster, training: Windows, config: RunConfig) -> float:
    """About how many bytes one training step takes at the full horizon, weights included.

    What a step keeps for its backward pass is counted on one system with the most objects, over
    one frame and over two; it grows with the frames, and with the objects of a batch.
    """
    weights = sum(each.numel() for each in model.parameters())
    if not weights or not len(training):
        return 0.0
    objects = training.data.n_objects
    largest = int(np.argmax(objects))
    short, longer = (
        _kept(model, Windows(training.data, training.normaliser, training.condition, frames), k)
        for frames, k in ((frames, largest) for frames in PROBED)
    )
    horizon = config.window.horizon
    one = short + max(longer - short, 0.0) * (horizon - PROBED[0])
    batch = min(config.training.batch, len(training))
    systems = batch * float(objects.mean()) / float(objects[largest])
    return PER_WEIGHT * weights + TEMPORARY * one * systems


class _Unset(TorchFunctionMode):
    """Leaves weights unset: to draw weights that have no memory, torch imports its compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return (kwargs or {}).get("tensor", args[0] if args else None)
        return func(*args, **(kwargs or {}))


def _kept(model: Forecaster, windows: Windows, system: int) -> float:
    """Bytes that the loss of one window keeps for its gradients, without those of weights."""
    own = {each.untyped_storage().data_ptr() for each in model.parameters()}
    sizes: dict[int, int] = {}
    held: list[Tensor] = []  # Freed storages would be counted once for all that reuse their place.

    def pack(tensor: Tensor) -> Tensor:
        place = tensor.untyped_storage().data_ptr()
        if place not in own and place not in sizes:
            sizes[place] = tensor.untyped_storage().nbytes()
            held.append(tensor)
        return tensor

    batch = windows.batch(np.array([system]), np.zeros(1, np.int64)).to(model.device)
    counting = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    # Fresh weights may lead where nothing can be solved; training then says so itself.
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), counting, suppress(SolverError):
        model.loss(batch)
    return float(sum(sizes.values()))


def _numbers(settings: Any) -> Iterator[int]:
    """All whole numbers of a group of settings."""
    if isinstance(settings, dict | list | tuple):
        for each in settings.values() if isinstance(settings, dict) else settings:
            yield from _numbers(each)
    elif isinstance(settings, int):
        yield settings
