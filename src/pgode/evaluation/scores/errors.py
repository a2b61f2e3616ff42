"""Squared errors by horizon, variable and feature, and skill against another forecast."""

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Predictions

Table = dict[str, dict[str, float | None]]
"""By horizon, then by variable or feature; None where the truth is not known at all."""


def columns(normaliser: Normaliser) -> dict[str, list[int]]:
    """What is reported: each variable (q, v), then each feature (qx, qy, vx, vy)."""
    features = {name: [k] for k, name in enumerate(normaliser.features)}
    return {**normaliser.variable_features, **features}


def error_by_horizon(
    predictions: Predictions, normaliser: Normaliser, horizons: list[int]
) -> Table:
    """Mean squared error over the first h frames of every system, for each h."""
    errors = predictions.squared_errors()
    return {
        str(h): {
            name: known_mean(errors[:, :h, index]) for name, index in columns(normaliser).items()
        }
        for h in horizons
    }


def error_by_frame(
    predictions: Predictions, normaliser: Normaliser
) -> dict[str, Float[np.ndarray, "system frame"]]:
    """Each system's mean squared error at each frame, by variable."""
    errors = predictions.squared_errors()
    return {
        name: system_means(errors[:, :, index], predictions.system)
        for name, index in normaliser.variable_features.items()
    }


def known_mean(values: Float[np.ndarray, "..."]) -> float | None:
    """Mean of what is not NaN; None, which JSON has, if there is nothing."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else None


def system_means(
    values: Float[np.ndarray, "object frame feature"], system: Int[np.ndarray, " object"]
) -> Float[np.ndarray, "system frame"]:
    """Means over the objects and features of each system, NaN where nothing is known."""
    known = np.isfinite(values)
    systems = int(system.max()) + 1
    total, count = np.zeros((systems, values.shape[1])), np.zeros((systems, values.shape[1]))
    np.add.at(total, system, np.where(known, values, 0).sum(2))
    np.add.at(count, system, known.sum(2))
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def skill(ours: Table, reference: Table) -> Table:
    """1 - ours / reference: 1 is perfect, 0 is no better, negative is worse."""

    def one(value: float | None, other: float | None) -> float | None:
        if value is None or other is None:
            return None
        return 1 - value / other if other > 0 else 0.0

    return {
        h: {name: one(value, reference[h][name]) for name, value in row.items()}
        for h, row in ours.items()
    }
