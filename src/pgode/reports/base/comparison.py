"""Errors of the evaluated model and of the naive models in one array, and their ratios."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.names import model_name
from pgode.reports.base.numbers import finite, suitable_exponent, times

Ratio = Float[np.ndarray, "split horizon variable"]

TINY = 6
"""Powers of ten between the errors of two models that no unit suits both of."""


@dataclass(frozen=True)
class Comparison:
    """Mean squared errors; the evaluated model comes first, the naive ones follow."""

    models: tuple[str, ...]
    splits: tuple[str, ...]
    horizons: tuple[int, ...]
    variables: tuple[str, ...]
    errors: Float[np.ndarray, "model split horizon variable"]
    reference: str
    """The naive model that skill is measured against."""

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
        """The model's error divided by that of the reference."""
        return self.ratio(self.reference)

    def ratio(self, other: str) -> Ratio | None:
        """The model's error divided by another's; None if that is missing or the model itself."""
        if other not in self.models[1:]:
            return None
        other_errors = self.errors[self.models.index(other)]
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient: Ratio = self.errors[0] / other_errors
        return quotient


def compare(evaluation: Evaluation, columns: Sequence[str] = ()) -> Comparison:
    """The errors of an evaluation: of its variables, or of the given columns (single features).

    Naive models without any error are left out.
    """
    names = tuple(columns) or evaluation.variables
    horizons = evaluation.mse.horizons
    tables = {evaluation.model: evaluation.mse}
    for name in evaluation.naive:
        tables.setdefault(name, evaluation.naive_mse(name))
    cells = [
        finite(table.at(split, horizon, name))
        for table in tables.values()
        for split in evaluation.splits
        for horizon in horizons
        for name in names
    ]
    errors = np.array(cells).reshape(len(tables), len(evaluation.splits), len(horizons), len(names))
    kept = np.isfinite(errors).any(axis=(1, 2, 3))
    kept[0] = True
    models = tuple(name for name, keep in zip(tables, kept, strict=True) if keep)
    return Comparison(
        models, evaluation.splits, horizons, names, errors[kept], evaluation.reference
    )


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
