"""Checkpoints: tensors in safetensors, the rest in its header as JSON. Nothing is pickled."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save
from torch import Tensor, nn

from pgode.runtime.errors import InputError
from pgode.runtime.files import write_bytes
from pgode.runtime.reading import parse_json
from pgode.runtime.stored.checking import check_listed, run_place
from pgode.runtime.stored.schema import parsed
from pgode.training.stored.progress import StoredProgress
from pgode.training.stored.tensors import (
    check_names,
    check_weights,
    optimiser_state,
    tensors_digest,
)

FORMAT = 2
"""Version of the run folder's format. A new one needs a conversion in `pgode.runs.convert`."""

MODEL = "model."
"""Prefix of the names of weights in a checkpoint."""

SEAL = "sha256"
"""Entry of the header: `tensors_digest` of everything else in the file."""

FIX = "Use the run's other checkpoint, or train again."


@dataclass
class Progress:
    """State of training; with the tensors, enough to continue to the same numbers.

    Random numbers are drawn from seeds made of (seed, epoch, step), so no generator's state needs
    to be kept. `sums` are the loss terms of the epoch so far, `norm` is a running average of the
    gradient's norm.
    """

    epoch: int = 0
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    best: float = float("inf")
    best_epoch: int = -1
    finished: bool = False
    norm: float | None = None
    sums: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> str:
        """On one line; an infinite error is null."""
        return json.dumps({**vars(self), "best": None if self.best == float("inf") else self.best})

    @classmethod
    def from_json(cls, text: str, where: str = "the state of training") -> "Progress":
        """Read back what `to_json` wrote; `where` names it in errors."""
        content = parse_json(text, where, allow_nan=True)
        values: dict[str, Any] = parsed(StoredProgress, content, where, FIX).model_dump()
        if values["best"] is None:
            values["best"] = float("inf")
        return cls(**values)


def save_checkpoint(
    path: Path, model: nn.Module, optimisers: dict[str, torch.optim.Optimizer], progress: Progress
) -> None:
    """Write model, optimisers and progress to one file, atomically."""
    header = {"format": str(FORMAT), "progress": progress.to_json()}
    write_tensors(path, _tensors(model, optimisers), header)


def write_tensors(path: Path, tensors: dict[str, Tensor], header: dict[str, str]) -> None:
    """Write tensors and the text beside them, with the checksum of both, in one step."""
    # Not by `save_file`, whose error on a full disk is one of its own.
    write_bytes(path, save(tensors, {**header, SEAL: tensors_digest(tensors, header)}))


def packed_state(
    model: nn.Module, optimisers: dict[str, torch.optim.Optimizer], progress: Progress
) -> bytes:
    """What a checkpoint holds, for another process: its progress in the first line, the tensors."""
    return progress.to_json().encode() + b"\n" + save(_tensors(model, optimisers))


def unpack_state(
    content: bytes, model: nn.Module, optimisers: dict[str, torch.optim.Optimizer]
) -> Progress:
    """Bring a model and its optimisers to the state that `packed_state` holds."""
    progress, _, tensors = content.partition(b"\n")
    _restore(load(tensors), model, optimisers, Path("the leading process"))
    return Progress.from_json(progress.decode())


def _tensors(model: nn.Module, optimisers: dict[str, torch.optim.Optimizer]) -> dict[str, Tensor]:
    tensors = {f"{MODEL}{name}": value for name, value in model.state_dict().items()}
    for name, optimiser in optimisers.items():
        for index, state in optimiser.state_dict()["state"].items():
            for key, value in state.items():
                tensors[f"{name}.{index}.{key}"] = torch.as_tensor(value)
    return {name: value.cpu().contiguous() for name, value in tensors.items()}


def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer] | None = None,
) -> Progress:
    """Read a checkpoint into a model, and into its optimisers where training continues."""
    tensors, header = read_tensors(path)
    check_format(header.get("format"), path)
    _restore(tensors, model, optimisers or {}, path)
    return Progress.from_json(header.get("progress", "{}"), f"the state of training in {path}")


def checkpoint_progress(path: Path) -> Progress:
    """How far the training of a checkpoint was."""
    return Progress.from_json(read_tensors(path)[1].get("progress", "{}"))


def _restore(
    tensors: dict[str, Tensor],
    model: nn.Module,
    optimisers: dict[str, torch.optim.Optimizer],
    path: Path,
) -> None:
    if optimisers:
        check_names(tensors, (MODEL.rstrip("."), *optimisers), path)
    load_model(model, model_tensors(tensors), path)
    for name, optimiser in optimisers.items():
        state = optimiser_state(name, optimiser, tensors, path)
        optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def load_weights(path: Path, model: nn.Module) -> None:
    """Read the weights of a checkpoint into a model that is not trained further."""
    tensors, header = read_tensors(path)
    check_format(header.get("format"), path)
    load_model(model, model_tensors(tensors), path)


def model_tensors(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights among the tensors of a checkpoint, under the names of the model's parameters."""
    return {
        name.removeprefix(MODEL): tensor
        for name, tensor in tensors.items()
        if name.startswith(MODEL)
    }


class OutdatedRunError(InputError):
    """A file belongs to a run in an older or newer format."""


def check_format(version: object, path: Path) -> None:
    """Refuse files of runs in another format than `FORMAT`."""
    if str(version) != str(FORMAT):
        raise OutdatedRunError(
            f"{path} belongs to a run of format {version or 1}. Expected format {FORMAT}, which "
            f"this version of pgode writes. Convert the run folder: pgode convert OLD -o NEW."
        )


def load_model(model: nn.Module, tensors: dict[str, Tensor], path: Path) -> None:
    """Copy weights into a model, which must have exactly these."""
    check_weights(model, tensors, path)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        detail = shorten(str(error).partition(":")[2], 160, placeholder=" ...").rstrip(".")
        raise InputError(
            f"the weights in {path} do not fit the model its config describes: {detail}. Expected "
            f"a run folder as pgode wrote it. Restore config.json and the checkpoint together."
        ) from None


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """All tensors of a safetensors file, and the metadata in its header, of any format.

    They must be those that the manifest of the run lists. While a training runs, or after a kill,
    it lists none: then the checksum in the file decides.
    """
    listed = check_listed(*run_place(path))
    try:
        with safe_open(str(path), framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            header = dict(file.metadata() or {})
    except UNREADABLE as error:
        raise _unreadable(path, str(error)) from None
    seal = header.pop(SEAL, None)
    if not listed and seal is not None and seal != tensors_digest(tensors, header):
        raise _unreadable(path, "its content does not have the checksum in its header")
    return tensors, header


def is_sealed(path: Path) -> bool:
    """Whether a checkpoint has a checksum of its own; those of earlier versions have none."""
    try:
        with safe_open(str(path), framework="pt") as file:
            return SEAL in (file.metadata() or {})
    except UNREADABLE as error:
        raise _unreadable(path, str(error)) from None


UNREADABLE = (OSError, SafetensorError, ValueError, TypeError, KeyError, RuntimeError)
"""Exceptions of safetensors and torch for a file that is none of theirs."""


def _unreadable(path: Path, reason: str) -> InputError:
    return InputError(
        f"cannot read the checkpoint {path}: {shorten(reason, 200).rstrip('.')}. Expected a "
        f"safetensors file that pgode wrote. {FIX}"
    )
