"""The log of a run: one row per epoch, as JSON lines and CSV, and to TensorBoard when installed."""

import csv
import io
import json
import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from pgode.runtime.disk.room import unwritable
from pgode.runtime.errors import DamagedLogWarning, InputError
from pgode.runtime.files import writable_folder, write_text
from pgode.runtime.reading import decoded, parse_json
from pgode.runtime.stored.checking import is_present, read_listed
from pgode.training.stored.log import check_order, check_row

LARGEST = 2**25
"""Bytes of a log that is read: tens of thousands of epochs."""
LOG, TABLE, DAMAGED = "metrics.jsonl", "metrics.csv", "metrics.damaged.jsonl"


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


class MetricsLog:
    """Rows of the epochs so far. Both files are replaced atomically, so no row is ever cut off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = read_metrics(folder)
        self._damaged = not self.rows and (folder / LOG).is_file()
        self._board: Any = None

    def rewind(self, epoch: int) -> None:
        """Drop rows of epochs that a resumed run repeats, and put a damaged log aside.

        Where it is, it would be listed as it is when training ends.
        """
        if self._damaged:
            (self.folder / LOG).replace(self.folder / DAMAGED)
            self._damaged = False
        self.rows = [row for row in self.rows if row["epoch"] <= epoch]

    def add(self, row: EpochRow) -> None:
        """Append one epoch and write the files."""
        self.rows.append(row)
        lines = "".join(json.dumps(_finite(each)) + "\n" for each in self.rows)
        write_text(self.folder / LOG, lines)
        write_text(self.folder / TABLE, self._csv())
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
    """The rows of a run folder, none if it has no log yet.

    None, with a warning, where the log cannot be read: it says how training went, and forecasts
    do not need it.
    """
    try:
        return checked_metrics(folder)
    except InputError as error:
        warnings.warn(
            f"the log of the training is not used. {error}", DamagedLogWarning, stacklevel=2
        )
        return []


def checked_metrics(folder: Path) -> list[EpochRow]:
    """The rows of a run folder, none if it has no log yet; an error if it cannot be read."""
    path = folder / LOG
    if not is_present(folder, LOG):
        return []
    lines = read_listed(folder, LOG, limit=LARGEST).splitlines()
    rows = [_parsed(line, f"line {number} of {path}") for number, line in enumerate(lines, 1)]
    check_order(rows, str(path))
    return [cast(EpochRow, {**row, "val_mse": _infinite(row["val_mse"])}) for row in rows]


def _parsed(line: bytes, where: str) -> Mapping[str, Any]:
    return check_row(parse_json(decoded(line, where), where, allow_nan=True), where)


def _infinite(error: float | None) -> float:
    return math.inf if error is None else error


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
