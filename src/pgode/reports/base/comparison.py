"""Errors of the evaluated model and of the naive models in one array, and their ratios."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.evaluation.scores.errors import NEGLIGIBLE
from pgode.evaluation.scores.metrics import METRICS
from pgode.reports.base.names import model_name
from pgode.reports.base.numbers import finite, suitable_exponent, times

Ratio = Float[np.ndarray, "split horizon variable"]

TINY = 6
"""Powers of ten between the errors of two models that no unit suits both of."""


@dataclass(frozen=True)
class Comparison:
    """Errors by one metric; the evaluated model comes first, the naive ones follow."""

    models: tuple[str, ...]
    splits: tuple[str, ...]
    horizons: tuple[int, ...]
    variables: tuple[str, ...]
    errors: Float[np.ndarray, "model split horizon variable"]
    least: float = NEGLIGIBLE
    """Errors below this are rounding, and count as this in ratios."""

    @property
    def exponent(self) -> int:
        """The power of ten the tables divide by, chosen so that the model's errors are near 1.

        If these are tiny beside those of the naive models, which a reader has a feeling for, it is
        chosen by the naive ones.
        """
        own, naive = (suitable_exponent(part.ravel()) for part in np.split(self.errors, [1]))
        return own if own > naive - TINY else naive

    @property
    def best(self) -> Bool[np.ndarray, "model split horizon variable"]:
        """Whether a model has the lowest error of its cell (several may)."""
        known = np.where(np.isfinite(self.errors), self.errors, np.inf)
        lowest: Bool[np.ndarray, "model split horizon variable"] = (
            known == known.min(axis=0)
        ) & np.isfinite(self.errors)
        return lowest

    @property
    def best_naive(self) -> Int[np.ndarray, "split horizon variable"]:
        """The number of the best naive model of each cell in `models`; 0 where there is none."""
        if len(self.models) == 1:
            return np.zeros(self.errors.shape[1:], np.int64)
        known = np.where(np.isfinite(self.errors[1:]), self.errors[1:], np.inf)
        return np.where(np.isfinite(known).any(0), known.argmin(0) + 1, 0)

    def cells(self, table: ScoreTable) -> Float[np.ndarray, "split horizon variable"]:
        """The scores of another table for the same cells, NaN where it has none."""
        values = [
            finite(table.at(split, horizon, name))
            for split in self.splits
            for horizon in self.horizons
            for name in self.variables
        ]
        return np.array(values).reshape(self.errors.shape[1:])

    @property
    def skill_ratio(self) -> Ratio | None:
        """The model's error divided by that of the best naive model of each cell."""
        if len(self.models) == 1:
            return None
        lowest = np.take_along_axis(self.errors, self.best_naive[None], 0)[0]
        return self._quotient(np.where(self.best_naive > 0, lowest, np.nan))

    def naive_at(self, split: int, horizon: int, variable: int) -> str:
        """The best naive model of a cell, as people call it."""
        number = int(self.best_naive[split, horizon, variable])
        return model_name(self.models[number]) if number else ""

    def ratio(self, other: str) -> Ratio | None:
        """The model's error divided by another's; None if that is missing or the model itself."""
        if other not in self.models[1:]:
            return None
        return self._quotient(self.errors[self.models.index(other)])

    def _quotient(self, others: Ratio) -> Ratio:
        quotient: Ratio = np.maximum(self.errors[0], self.least) / np.maximum(others, self.least)
        return quotient


def compare(
    evaluation: Evaluation,
    columns: Sequence[str] = (),
    metric: str = "mse",
    *,
    units: bool = False,
) -> Comparison:
    """The errors of an evaluation by a metric: of its variables, or of the given columns.

    With `units` they are in the data's own units. Naive models without any error are left out. A
    naive model has no samples: where a metric needs them, its error is that of a single forecast.
    """
    of_point = METRICS[metric].of_point if metric in METRICS else ""

    def table(model: str, scores: dict[str, ScoreTable]) -> ScoreTable:
        found = evaluation.raw.get(model, {}) if units else scores
        return found.get(metric) or found.get(of_point) or ScoreTable()

    tables = {evaluation.model: table(evaluation.model, evaluation.scores)}
    for name, scores in evaluation.naive.items():
        tables.setdefault(name, table(name, scores))
    own = tables[evaluation.model]
    names = tuple(columns) or _columns(own, evaluation.variables)
    horizons = own.horizons
    cells = [
        finite(each.at(split, horizon, name))
        for each in tables.values()
        for split in evaluation.splits
        for horizon in horizons
        for name in names
    ]
    errors = np.array(cells).reshape(len(tables), len(evaluation.splits), len(horizons), len(names))
    kept = np.isfinite(errors).any(axis=(1, 2, 3))
    kept[0] = True
    models = tuple(name for name, keep in zip(tables, kept, strict=True) if keep)
    least = NEGLIGIBLE if metric == "mse" and not units else 0.0
    least = least or float(np.finfo(np.float64).tiny)
    return Comparison(models, evaluation.splits, horizons, names, errors[kept], least)


def _columns(table: ScoreTable, variables: Sequence[str]) -> tuple[str, ...]:
    """The variables, or what a metric of several of them together calls its column."""
    found = tuple(name for name in variables if name in table.columns)
    return found or table.columns or tuple(variables)


def ratio_text(ratio: float, other: str) -> str:
    """A ratio of errors as text, for instance "93 × below constant velocity"."""
    name = model_name(other)
    if not math.isfinite(ratio):
        return f"not comparable with {name}"
    if ratio == 0:
        return f"exact, unlike {name}"
    if 0.9995 < ratio < 1.0005:
        return f"equal to {name}"
    if 0.9 < ratio < 1.1:
        return f"{100 * abs(ratio - 1):.1f} % {'below' if ratio < 1 else 'above'} {name}"
    return f"{times(1 / ratio)} below {name}" if ratio < 1 else f"{times(ratio)} above {name}"
