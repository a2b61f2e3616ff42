"""A row of the log as it is stored, and the rows of a whole log."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pydantic import ConfigDict

from pgode.runtime.errors import InputError
from pgode.runtime.stored.schema import AtLeastOne, NotNegative, Stored, parsed

FIX = "Restore the file, or remove the line."


class StoredGate(Stored):
    """The entries of `pgode.training.gate_use.GateUse`."""

    prototypes: AtLeastOne
    per_object: NotNegative
    overall: NotNegative
    difference: NotNegative | None = None


class StoredRow(Stored):
    """One line of metrics.jsonl; an infinite validation error is null."""

    model_config = ConfigDict(allow_inf_nan=True)

    epoch: AtLeastOne
    train: dict[str, float]
    val_mse: float | None
    lr: float
    seconds: NotNegative
    memory_gb: NotNegative | None = None
    gate: StoredGate | None = None
    gradients: dict[str, dict[str, float]] | None = None


def check_row(content: Any, where: str) -> Mapping[str, Any]:
    """A line of the log, which must have the form of an epoch."""
    parsed(StoredRow, content, where, f"Expected one epoch, as pgode train wrote it. {FIX}")
    found: Mapping[str, Any] = content
    return found


def check_order(rows: list[Mapping[str, Any]], path: str) -> None:
    """Refuse rows that do not follow each other."""
    for number, (before, after) in enumerate(pairwise(rows), 2):
        if after["epoch"] <= before["epoch"]:
            raise InputError(
                f"line {number} of {path} is of epoch {after['epoch']}, after epoch "
                f"{before['epoch']}. Expected epochs in their order. {FIX}"
            )
