"""The systems and objects with the largest errors, by name: where to look first."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pgode.data.view import DatasetView
from pgode.evaluation.predictions import Predictions

LISTED = 3
"""Systems, and objects, that are named."""


@dataclass(frozen=True)
class WorstEntry:
    """One system or object: its mean squared error over all features and forecast frames.

    `ratio` is that error divided by the error of `naive`, the best naive model for it alone; None
    where no naive model was scored.
    """

    name: str
    error: float
    naive: str
    ratio: float | None


@dataclass(frozen=True)
class Worst:
    """The worst systems and the worst objects of a split, largest error first."""

    systems: tuple[WorstEntry, ...]
    objects: tuple[WorstEntry, ...]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Worst":
        """Read back what `to_json` wrote."""
        systems, objects = (
            tuple(WorstEntry(**entry) for entry in content[key]) for key in ("systems", "objects")
        )
        return cls(systems, objects)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "systems": [asdict(entry) for entry in self.systems],
            "objects": [asdict(entry) for entry in self.objects],
        }


def worst(data: DatasetView, model: Predictions, naive: Mapping[str, Predictions]) -> Worst:
    """The systems and objects of a split with the largest errors; none where there is only one."""
    system, item = model.data_system, places(model.system)
    both = system * data.objects + item

    def entries(key: Int[np.ndarray, " object"], objects: bool) -> tuple[WorstEntry, ...]:
        own = _means(model, key)
        others = {name: _means(each, key) for name, each in naive.items()}
        known = np.flatnonzero(np.isfinite(own))
        if len(known) < 2:
            return ()
        order = known[np.argsort(-own[known], kind="stable")][:LISTED]
        return tuple(_entry(_label(data, int(k), objects), int(k), own, others) for k in order)

    return Worst(entries(system, False), entries(both, True))


def places(window: Int[np.ndarray, " object"]) -> Int[np.ndarray, " object"]:
    """The number of each object within its window; windows are consecutive."""
    counts = np.bincount(window)
    return np.arange(len(window)) - np.repeat(np.cumsum(counts) - counts, counts)


def _label(data: DatasetView, key: int, objects: bool) -> str:
    if not objects:
        return data.system_label(key)
    system, item = divmod(key, data.objects)
    name = data.object_label(system, item)
    return name if data.systems == 1 else f"{name} of {data.system_label(system)}"


def _entry(name: str, key: int, own: np.ndarray, others: Mapping[str, np.ndarray]) -> WorstEntry:
    errors = {model: float(means[key]) for model, means in others.items()}
    known = {model: error for model, error in errors.items() if np.isfinite(error)}
    if not known:
        return WorstEntry(name, float(own[key]), "", None)
    best = min(known, key=known.__getitem__)
    ratio = float(own[key] / known[best]) if known[best] > 0 else None
    return WorstEntry(name, float(own[key]), best, ratio)


def _means(predictions: Predictions, key: Int[np.ndarray, " object"]) -> Float[np.ndarray, " key"]:
    """Mean squared error of all rows with the same key, NaN where nothing is known."""
    errors = predictions.squared_errors()
    known = np.isfinite(errors)
    total = np.bincount(key, np.where(known, errors, 0).sum((1, 2)))
    count = np.bincount(key, known.sum((1, 2)))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
