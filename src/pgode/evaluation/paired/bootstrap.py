"""Paired bootstrap: the range of a difference between two forecasts of the same windows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.paired.result import Difference
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.metrics import Metric

RESAMPLES = 2000
RANGE = (0.05, 0.95)
"""Quantiles of the differences that are reported: a 90 % range."""
FEW_SYSTEMS = 10
"""With fewer systems windows are resampled, although those of one system depend on each other."""


def resampled_unit(predictions: Predictions) -> tuple[str, Int[np.ndarray, " object"]]:
    """What is resampled, systems or windows, and the number of it that each object belongs to."""
    systems = predictions.data_system
    if len(np.unique(systems)) >= FEW_SYSTEMS:
        return "systems", np.unique(systems, return_inverse=True)[1]
    return "windows", predictions.system


@dataclass(frozen=True)
class Sums:
    """Sums of single scores, and their number, of each resampled unit."""

    total: Float[np.ndarray, "unit horizon column"]
    count: Float[np.ndarray, "unit horizon column"]

    @classmethod
    def of(
        cls,
        metric: Metric,
        predictions: Predictions,
        normaliser: Normaliser,
        horizons: Sequence[int],
        columns: Sequence[str],
        unit: Int[np.ndarray, " object"],
    ) -> "Sums":
        """The scores of forecasts by a metric that is a mean, or a function of one."""
        values = metric.values(predictions)
        found = metric.columns(normaliser)
        shape = (int(unit.max()) + 1, len(horizons), len(columns))
        total, count = np.zeros(shape), np.zeros(shape)
        for h, horizon in enumerate(horizons):
            for c, column in enumerate(columns):
                parts = metric.parts(values[:, :horizon, found[column]])
                flat = parts.reshape(len(parts), -1)
                known = np.isfinite(flat)
                total[:, h, c] = np.bincount(unit, np.where(known, flat, 0).sum(1), shape[0])
                count[:, h, c] = np.bincount(unit, known.sum(1), shape[0])
        return cls(total, count)

    def scores(
        self, metric: Metric, weights: Float[np.ndarray, "resample unit"]
    ) -> Float[np.ndarray, "resample horizon column"]:
        """The metric of each resample; NaN where nothing is known."""
        total = np.einsum("ru,uhc->rhc", weights, self.total)
        count = np.einsum("ru,uhc->rhc", weights, self.count)
        mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
        return np.asarray(np.vectorize(metric.finish, otypes=[float])(mean))


def differences(
    sums: Mapping[str, Sums],
    metric: Metric,
    horizons: Sequence[int],
    columns: Sequence[str],
    seed: int,
) -> tuple[Difference, ...]:
    """Each run against the first: the relative difference and its range, cell by cell.

    The same units are drawn for both runs, so that what is hard for both does not widen the range.
    """
    first, *others = sums
    units = len(sums[first].total)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(units, np.full(units, 1 / units), RESAMPLES).astype(np.float64)
    once = np.ones((1, units))
    found = []
    for name in others:
        change, spread = (
            _ratio(sums[name].scores(metric, weights), sums[first].scores(metric, weights)) - 1
            for weights in (once, drawn)
        )
        for h, horizon in enumerate(horizons):
            for c, column in enumerate(columns):
                known = spread[:, h, c][np.isfinite(spread[:, h, c])]
                if not known.size or not np.isfinite(change[0, h, c]):
                    continue
                low, high = np.quantile(known, RANGE)
                cell = (float(change[0, h, c]), float(low), float(high))
                found.append(Difference(name, first, horizon, column, *cell))
    return tuple(found)


def _ratio(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(one, other, out=np.full_like(one, np.nan), where=other > 0))
