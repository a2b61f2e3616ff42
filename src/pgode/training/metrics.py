"""The log of a run: one row per epoch, as JSON lines and CSV, and to TensorBoard when installed."""

import csv
import io
import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pgode.runtime.files import write_text


class MetricsLog:
    """Rows of the epochs so far. Both files are replaced atomically, so no row is ever cut off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows = read_metrics(folder)
        self._board: Any = None

    def rewind(self, epoch: int) -> None:
        """Drop rows of epochs that a resumed run repeats."""
        self.rows = [row for row in self.rows if row["epoch"] <= epoch]

    def add(self, row: dict[str, Any]) -> None:
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

    def _to_tensorboard(self, row: dict[str, Any]) -> None:
        if find_spec("tensorboard") is None:
            return
        if self._board is None:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(self.folder / "tensorboard"))
        for key, value in _flat(row).items():
            if key != "epoch":
                self._board.add_scalar(key, value, row["epoch"])
        self._board.flush()

    def close(self) -> None:
        """Flush and close TensorBoard."""
        if self._board is not None:
            self._board.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run folder, none if it has no log yet."""
    path = folder / "metrics.jsonl"
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        {**row, "val_mse": math.inf if row["val_mse"] is None else row["val_mse"]} for row in rows
    ]


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: the error of a forecast that could not be solved is null."""
    return row if math.isfinite(row["val_mse"]) else {**row, "val_mse": None}


def _flat(row: dict[str, Any]) -> dict[str, float]:
    flat: dict[str, float] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{key}_{inner}": number for inner, number in value.items()})
        else:
            flat[key] = value
    return flat
