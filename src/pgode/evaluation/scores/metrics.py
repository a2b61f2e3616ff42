"""The table of metrics. A new one is a function of predictions and one line in `METRICS`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from jaxtyping import Float

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.probabilistic import (
    covered,
    crps,
    interval,
    sample_quantile,
    weighted_interval_score,
)

Values = Float[np.ndarray, "object frame feature"]
Rows = Mapping[int, Mapping[str, float | None]]
"""By horizon, then by variable or feature; None where no true value is known."""


def known_mean(values: Float[np.ndarray, "..."]) -> float | None:
    """Mean of the values that are not NaN; None (null in JSON) if all are."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else None


def _unchanged(values: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return values


@dataclass(frozen=True)
class Metric:
    """How forecasts are scored, and how single scores become one number.

    `values` scores each object, frame and feature, with NaN where the truth is unknown. `parts`
    makes of those of some features over the first frames the numbers that `reduce` combines, and
    `finish` is applied to the result. `values` may have a further axis, which `parts` removes.
    Metrics that need samples take them from `Predictions.draws`.
    """

    values: Callable[[Predictions], Float[np.ndarray, "object frame feature *more"]]
    reduce: Callable[[Float[np.ndarray, "..."]], float | None] = known_mean
    needs_samples: bool = False
    title: str = ""
    """The name in tables."""
    parts: Callable[[np.ndarray], np.ndarray] = _unchanged
    finish: Callable[[float], float] = float
    over: Literal["all features", "positions"] = "all features"
    power: int | None = 1
    """The score has the unit of the data to this power; None if it is a share."""
    of_point: str = ""
    """The metric that gives the same number for a forecast without spread."""

    def rows(
        self, predictions: Predictions, normaliser: Normaliser, horizons: Sequence[int]
    ) -> Rows:
        """The score over the first h frames of every system, for each horizon h."""
        values = self.values(predictions)
        return {
            h: {
                name: self.score(values[:, :h, index])
                for name, index in self.columns(normaliser).items()
            }
            for h in horizons
        }

    def score(self, values: Float[np.ndarray, "object frame feature *more"]) -> float | None:
        """One number of the values of some features over some frames."""
        found = self.reduce(self.parts(values))
        return None if found is None else float(self.finish(found))

    def columns(self, normaliser: Normaliser) -> dict[str, list[int]]:
        """What is scored: variables and features, or all positions together."""
        if self.over == "all features":
            return columns(normaliser)
        places = normaliser.positions
        names = dict.fromkeys(normaliser.variables[k] for k in places)
        return {"+".join(names): places} if places else {}


def columns(normaliser: Normaliser) -> dict[str, list[int]]:
    """The feature indices of each variable (q, v), then of each feature (qx, qy, vx, vy)."""
    features = {name: [k] for k, name in enumerate(normaliser.features)}
    return {**normaliser.variable_features, **features}


def _absolute(predictions: Predictions) -> Values:
    return np.where(predictions.known, np.abs(predictions.mean - predictions.truth), np.nan)


def _distances(values: Float[np.ndarray, "object frame axis *more"]) -> np.ndarray:
    """Euclidean distances from squared errors, NaN where any axis is unknown."""
    return np.asarray(np.sqrt(values.sum(axis=2)))


def _final(values: Values) -> Float[np.ndarray, " object"]:
    return np.asarray(_distances(values)[:, -1])


def _squared_draws(predictions: Predictions) -> Float[np.ndarray, "object frame feature draw"]:
    """In single precision: there may be many draws, and a distance needs no more."""
    errors = ((predictions.draws - predictions.truth) ** 2).astype(np.float32)
    return np.moveaxis(np.where(predictions.known, errors, np.float32(np.nan)), 0, 3)


def _best(values: Float[np.ndarray, "object frame axis draw"]) -> Float[np.ndarray, " object"]:
    """The lowest mean distance of each object over its draws."""
    distance = _distances(values)
    known = np.isfinite(distance)
    count = known.sum(1)
    mean = np.where(known, distance, 0).sum(1) / np.maximum(count, 1)
    return np.asarray(np.where(count > 0, mean, np.nan).min(axis=1))


def _crps(predictions: Predictions) -> Values:
    # Feature by feature: the samples of all of them may be large.
    scores = np.stack(
        [
            crps(predictions.draws[..., k], predictions.truth[..., k])
            for k in range(predictions.truth.shape[2])
        ],
        axis=-1,
    )
    return np.where(predictions.known, scores, np.nan)


def _wis(predictions: Predictions) -> Values:
    quantile = predictions.quantile or partial(sample_quantile, predictions.draws)
    scores = weighted_interval_score(quantile, predictions.truth)
    return np.where(predictions.known, scores, np.nan)


def _coverage(predictions: Predictions, level: int) -> Values:
    ends = predictions.intervals.get(level) or interval(predictions.draws, level)
    inside = covered(ends, predictions.truth)
    return np.where(predictions.known, inside, np.nan)


def _covers(level: int) -> Metric:
    return Metric(
        partial(_coverage, level=level),
        needs_samples=True,
        title=f"Share of true values inside the {level} % interval",
        power=None,
    )


METRICS: dict[str, Metric] = {
    "mse": Metric(Predictions.squared_errors, title="Mean squared error", power=2),
    "rmse": Metric(Predictions.squared_errors, title="Root mean squared error", finish=np.sqrt),
    "mae": Metric(_absolute, title="Mean absolute error"),
    "ade": Metric(
        Predictions.squared_errors,
        title="Average displacement error",
        parts=_distances,
        over="positions",
    ),
    "fde": Metric(
        Predictions.squared_errors,
        title="Final displacement error",
        parts=_final,
        over="positions",
    ),
    "best_of_n": Metric(
        _squared_draws,
        title="Average displacement error of the best sample",
        needs_samples=True,
        parts=_best,
        over="positions",
        of_point="ade",
    ),
    "crps": Metric(
        _crps,
        title="Continuous ranked probability score",
        needs_samples=True,
        of_point="mae",
    ),
    "wis": Metric(_wis, title="Weighted interval score", needs_samples=True, of_point="mae"),
    **{f"coverage_{level}": _covers(level) for level in (50, 80, 90, 95)},
}
"""What an evaluation reports, by name; skill is computed from "mse"."""
