"""Squared errors of single systems and frames, and skill against another forecast."""

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.evaluation import ScoreTable
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


def skill(model: ScoreTable, reference: ScoreTable) -> ScoreTable:
    """1 - model / reference: 1 is perfect, 0 no better, negative worse."""

    def cell(error: float | None, other: float | None) -> float | None:
        if error is None or other is None:
            return None
        return 1 - error / other if other > 0 else 0.0

    return ScoreTable(
        {
            split: {
                h: {name: cell(error, reference.at(split, h, name)) for name, error in row.items()}
                for h, row in rows.items()
            }
            for split, rows in model.cells.items()
        }
    )
