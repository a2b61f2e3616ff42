"""Squared errors of single systems and frames, and skill against the best naive model."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.evaluation import Names, ScoreTable
from pgode.evaluation.predictions import Predictions

SystemErrors = dict[str, Float[np.ndarray, "system frame"]]
"""Each system's mean squared error at each forecast frame, by variable."""


def error_by_frame(predictions: Predictions, normaliser: Normaliser) -> SystemErrors:
    """Each system's mean squared error at each frame, by variable."""
    errors = predictions.squared_errors()
    return {
        name: system_means(errors[:, :, index], predictions.system)
        for name, index in normaliser.variable_features.items()
    }


def system_means(
    values: Float[np.ndarray, "object frame feature"], system: Int[np.ndarray, " object"]
) -> Float[np.ndarray, "system frame"]:
    """Means over the objects and features of each system, NaN where no value is known."""
    known = np.isfinite(values)
    systems = int(system.max()) + 1
    total, count = np.zeros((systems, values.shape[1])), np.zeros((systems, values.shape[1]))
    np.add.at(total, system, np.where(known, values, 0).sum(2))
    np.add.at(count, system, known.sum(2))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


NEGLIGIBLE = 1e-16
"""Squared errors below this are rounding of single precision, which all models compute in."""


def best_naive(naive: Mapping[str, ScoreTable]) -> Names:
    """The model with the lowest error of each cell that any has an error of."""
    cells = {
        (split, h, name): None
        for table in naive.values()
        for split, rows in table.cells.items()
        for h, row in rows.items()
        for name in row
    }
    best: dict[str, dict[int, dict[str, str]]] = {}
    for split, h, name in cells:
        errors = {model: table.at(split, h, name) for model, table in naive.items()}
        known = {model: error for model, error in errors.items() if error is not None}
        if known:
            lowest = min(known, key=known.__getitem__)
            best.setdefault(split, {}).setdefault(h, {})[name] = lowest
    return best


def skill(model: ScoreTable, naive: Mapping[str, ScoreTable], best: Names) -> ScoreTable:
    """1 - error / that of the best naive model: 1 is perfect, 0 no better, negative worse."""

    def cell(split: str, h: int, name: str, error: float | None) -> float | None:
        reference = best.get(split, {}).get(h, {}).get(name)
        other = None if reference is None else naive[reference].at(split, h, name)
        if error is None or other is None:
            return None
        return 1 - max(error, NEGLIGIBLE) / max(other, NEGLIGIBLE)

    return ScoreTable(
        {
            split: {
                h: {name: cell(split, h, name, error) for name, error in row.items()}
                for h, row in rows.items()
            }
            for split, rows in model.cells.items()
        }
    )
