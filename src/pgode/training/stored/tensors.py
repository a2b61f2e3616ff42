"""Checks of the tensors of a checkpoint: their checksum, and whether they are those of a model."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from pgode.runtime.errors import InputError

STATE = re.compile(r"^(\d{1,9})\.(\w+)$")
"""Names of the state of an optimiser, after its own: number of the parameter, and what it is."""


def tensors_digest(tensors: Mapping[str, Tensor], header: Mapping[str, str]) -> str:
    """SHA-256 of all tensors and of the text beside them.

    It is stored in the checkpoint itself, so that one that was replaced just before a kill is as
    certain as one that the manifest of its run lists.
    """
    found = hashlib.sha256()
    for name in sorted(tensors):
        value = tensors[name].detach().cpu().contiguous()
        found.update(f"{name}\0{value.dtype}\0{tuple(value.shape)}\0".encode())
        found.update(value.reshape(-1).view(torch.uint8).numpy().data)
    for name in sorted(header):
        found.update(f"{name}\0{header[name]}\0".encode())
    return found.hexdigest()


def check_weights(model: nn.Module, tensors: Mapping[str, Tensor], path: Path) -> None:
    """Refuse weights of other types than the model has, which torch would convert, and NaN.

    Buffers may be infinite: distances without a limit are.
    """
    trained = {name for name, _ in model.named_parameters()}
    for name, own in model.state_dict().items():
        value = tensors.get(name)
        if value is None or value.shape != own.shape:
            continue  # `load_state_dict` names all of these.
        if value.dtype != own.dtype:
            raise _unfit(path, f"{name} has the type {value.dtype}, not {own.dtype}")
        if name in trained and not torch.isfinite(value).all():
            raise _unfit(path, f"{name} has values that are not finite")


def optimiser_state(
    name: str, optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor], path: Path
) -> dict[int, dict[str, Tensor]]:
    """The state of one optimiser among the tensors of a checkpoint, by number of the parameter."""
    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if not key.startswith(f"{name}."):
            continue
        found = STATE.match(key.removeprefix(f"{name}."))
        if found is None or int(found[1]) >= len(parameters):
            raise _unfit(path, f"{key} belongs to no weight")
        own = parameters[int(found[1])]
        if value.ndim and value.shape != own.shape:
            raise _unfit(path, f"{key} has the shape {tuple(value.shape)}, not {tuple(own.shape)}")
        if not value.is_floating_point() or not torch.isfinite(value).all():
            raise _unfit(path, f"{key} has values that are not finite numbers")
        state.setdefault(int(found[1]), {})[found[2]] = value
    for index, entries in state.items():
        if entries.keys() != next(iter(state.values())).keys():
            raise _unfit(path, f"{name}.{index} lacks a part that others have")
    return state


def check_names(tensors: Mapping[str, Tensor], known: tuple[str, ...], path: Path) -> None:
    """Refuse tensors that are neither weights nor of an optimiser."""
    for name in tensors:
        if name.partition(".")[0] not in known:
            raise _unfit(path, f"{name[:80]!r} is no name of pgode's")


def _unfit(path: Path, detail: str) -> InputError:
    return InputError(
        f"the checkpoint {path} does not fit the model that its config describes: {detail}. "
        f"Expected a run folder as pgode wrote it. Restore config.json and the checkpoint together."
    )
