"""The log of a run: one row per epoch, as JSON lines and CSV, and to TensorBoard when installed."""

import csv
import io
import json
import math
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from pgode.runtime.disk.room import unwritable
from pgode.runtime.errors import InputError
from pgode.runtime.files import writable_folder, write_text


class EpochRow(TypedDict):
    """One epoch of the log."""

    epoch: int
    """From 1."""
    train: dict[str, float]
    """The loss and its terms, averaged over the steps of the epoch."""
    val_mse: float
    """Infinite where a forecast could not be solved."""
    lr: float
    seconds: float
    """Since the start of the training."""
    memory_gb: NotRequired[float]
    """The largest so far."""
    gate: NotRequired[dict[str, float]]
    """Use of the gate on the validation split, see `GateUse`; only of models with a gate."""
    gradients: NotRequired[dict[str, dict[str, float]]]
    """Norms of the gradients after the epoch, by encoder and term; only of models with encoders."""


KINDS: dict[str, Any] = {
    "epoch": int,
    "train": dict,
    "val_mse": int | float | None,
    "lr": int | float,
    "seconds": int | float,
}
"""Types of the keys that every line of metrics.jsonl has; an infinite error is written as null."""


class MetricsLog:
    """Rows of the epochs so far. Both files are replaced atomically, so no row is ever cut off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = read_metrics(folder)
        self._board: Any = None

    def rewind(self, epoch: int) -> None:
        """Drop rows of epochs that a resumed run repeats."""
        self.rows = [row for row in self.rows if row["epoch"] <= epoch]

    def add(self, row: EpochRow) -> None:
        """Append one epoch and write the files."""
        self.rows.append(row)
        lines = "".join(json.dumps(_finite(each)) + "\n" for each in self.rows)
        write_text(self.folder / "metrics.jsonl", lines)
        write_text(self.folder / "metrics.csv", self._csv())
        self._to_tensorboard(row)

    def _csv(self) -> str:
        flat = [_flat(row) for row in self.rows]
        text = io.StringIO()
        writer = csv.DictWriter(text, list(dict.fromkeys(key for row in flat for key in row)))
        writer.writeheader()
        writer.writerows(flat)
        return text.getvalue()

    def _to_tensorboard(self, row: EpochRow) -> None:
        if find_spec("tensorboard") is None:
            return
        place = self.folder / "tensorboard"
        writable_folder(place)
        try:
            if self._board is None:
                from torch.utils.tensorboard import SummaryWriter

                self._board = SummaryWriter(str(place))
            for key, value in _flat(row).items():
                if key != "epoch":
                    self._board.add_scalar(key, value, row["epoch"])
            self._board.flush()
        except OSError as error:
            raise unwritable(place, error) from None

    def close(self) -> None:
        """Flush and close TensorBoard."""
        if self._board is not None:
            with suppress(OSError):  # The write that failed has been reported.
                self._board.close()


def read_metrics(folder: Path) -> list[EpochRow]:
    """The rows of a run folder, none if it has no log yet."""
    path = folder / "metrics.jsonl"
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines()
    return [_parsed(line, path, number) for number, line in enumerate(lines, 1)]


def _parsed(line: bytes, path: Path, number: int) -> EpochRow:
    try:
        return _checked(json.loads(line))
    except ValueError as error:
        raise InputError(
            f"cannot read line {number} of {path}: {error}. Expected one epoch, as pgode train "
            f"wrote it there. Restore the file, or remove the line."
        ) from None


def _checked(content: Any) -> EpochRow:
    if not isinstance(content, dict):
        raise ValueError(f"it holds {type(content).__name__}, not keys and values")
    for key, kind in KINDS.items():
        if not isinstance(content.get(key, ""), kind):
            raise ValueError(f'it has no valid "{key}"')
    if content["val_mse"] is None:
        content["val_mse"] = math.inf
    return cast(EpochRow, content)


def _finite(row: EpochRow) -> Mapping[str, Any]:
    """JSON has no infinity: the error of a forecast that could not be solved is null."""
    return row if math.isfinite(row["val_mse"]) else {**row, "val_mse": None}


def _flat(row: Mapping[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{key}_{inner}": number for inner, number in _flat(value).items()})
        else:
            flat[key] = value
    return flat
