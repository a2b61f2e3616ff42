"""The table of metrics. A new one is a function of predictions and one line in `METRICS`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.probabilistic import covered, crps, interval

Values = Float[np.ndarray, "object frame feature"]
Rows = Mapping[int, Mapping[str, float | None]]
"""By horizon, then by variable or feature; None where no true value is known."""


def known_mean(values: Float[np.ndarray, "..."]) -> float | None:
    """Mean of the values that are not NaN; None (null in JSON) if all are."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else None


@dataclass(frozen=True)
class Metric:
    """How forecasts are scored, and how single scores become one number.

    `values` scores each object, frame and feature, with NaN where the truth is unknown. `reduce`
    combines the scores of all objects over the first frames into one number. Metrics of the mean
    forecast are reported for each variable and each feature. Those that need samples take them
    from `Predictions.draws` and are reported for each variable.
    """

    values: Callable[[Predictions], Values]
    reduce: Callable[[Float[np.ndarray, "..."]], float | None] = known_mean
    needs_samples: bool = False

    def rows(
        self, predictions: Predictions, normaliser: Normaliser, horizons: Sequence[int]
    ) -> Rows:
        """The score over the first h frames of every system, for each horizon h."""
        values = self.values(predictions)
        reported = normaliser.variable_features if self.needs_samples else columns(normaliser)
        return {
            h: {name: self.reduce(values[:, :h, index]) for name, index in reported.items()}
            for h in horizons
        }


def columns(normaliser: Normaliser) -> dict[str, list[int]]:
    """The feature indices of each variable (q, v), then of each feature (qx, qy, vx, vy)."""
    features = {name: [k] for k, name in enumerate(normaliser.features)}
    return {**normaliser.variable_features, **features}


def _crps(predictions: Predictions) -> Values:
    scores = crps(predictions.draws, predictions.truth)
    return np.where(predictions.known, scores, np.nan)


def _coverage(predictions: Predictions, level: int) -> Values:
    ends = predictions.intervals.get(level) or interval(predictions.draws, level)
    inside = covered(ends, predictions.truth)
    return np.where(predictions.known, inside, np.nan)


METRICS: dict[str, Metric] = {
    "mse": Metric(Predictions.squared_errors),
    "crps": Metric(_crps, needs_samples=True),
    "coverage_50": Metric(partial(_coverage, level=50), needs_samples=True),
    "coverage_90": Metric(partial(_coverage, level=90), needs_samples=True),
}
"""What an evaluation reports, by name; skill is computed from "mse"."""
