"""The record of the run that another one goes on from, kept in the `data.json` of the new run."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Scales = Literal["kept", "refitted"]


@dataclass(frozen=True)
class Parent:
    """Which weights a run started from, and how they did on its data before any training.

    The folder may be moved or trained further later on; the hash of the weights stays true.
    """

    folder: str
    """As the user named it: a path, or the name of a model that comes with the package."""
    weights: str
    """SHA-256 of the file of weights."""
    data: str
    """Hash of the data that the weights were trained on."""
    scales: Scales
    val_mse: float
    """Validation error of the untouched weights; infinite where a forecast cannot be solved."""

    @classmethod
    def from_json(cls, content: Mapping[str, Any] | None) -> "Parent | None":
        """Read back what `to_json` wrote; None where a run started from fresh weights."""
        if content is None:
            return None
        error = content["val_mse"]
        return cls(**{**content, "val_mse": math.inf if error is None else float(error)})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, which has no infinite numbers."""
        return {**asdict(self), "val_mse": self.val_mse if math.isfinite(self.val_mse) else None}

    @property
    def text(self) -> str:
        """One line for a table."""
        return f"{self.folder}, weights {self.weights[:12]}, scales {self.scales}"
