"""The model beside the naive ones: one grid of errors, which is lowest, and that in words."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pgode.reports.base.numbers import excess, finite, percent, suitable_exponent, times

REFERENCE = "constant-velocity"
"""The naive model that skill is measured against, where an evaluation names no other."""

TOLERANCE = 0.1
"""How far the share inside an interval may be from the nominal one before the report warns."""

_SPLITS = {
    "train": "training",
    "val": "validation",
    "test": "in distribution",
    "ood": "out of distribution",
}


@dataclass(frozen=True)
class Comparison:
    """Mean squared errors; the model comes first, the naive ones follow."""

    models: tuple[str, ...]
    splits: tuple[str, ...]
    horizons: tuple[int, ...]
    variables: tuple[str, ...]
    errors: Float[np.ndarray, "model split horizon variable"]
    reference: str = REFERENCE

    @property
    def exponent(self) -> int:
        """The power of ten the tables divide by: chosen for the model, whose digits matter most."""
        return suitable_exponent(self.errors[0].ravel())

    @property
    def best(self) -> Bool[np.ndarray, "model split horizon variable"]:
        """Whether a model has the lowest error of its cell (several may)."""
        known = np.where(np.isfinite(self.errors), self.errors, np.inf)
        lowest: Bool[np.ndarray, "model split horizon variable"] = (
            known == known.min(axis=0)
        ) & np.isfinite(self.errors)
        return lowest

    @property
    def skill_ratio(self) -> Float[np.ndarray, "split horizon variable"] | None:
        """The model's error divided by that of the reference."""
        return self.ratio(self.reference)

    def ratio(self, other: str) -> Float[np.ndarray, "split horizon variable"] | None:
        """The model's error divided by another's; None if that one is not here, or is the model."""
        if other not in self.models[1:]:
            return None
        theirs = self.errors[self.models.index(other)]
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient: Float[np.ndarray, "split horizon variable"] = self.errors[0] / theirs
        return quotient


@dataclass(frozen=True)
class Verdict:
    """One sentence about the model; `good` is False where it has to warn."""

    good: bool
    words: str


def compare(
    evaluation: Mapping[str, Any], variables: Sequence[str] = (), *, part: str = "mse"
) -> Comparison:
    """Gather the grid from an evaluation. `part` is "mse", or "long" for the longer horizons.

    Without `variables` they are those the evaluation itself treats as such (its curves and
    scores), since its errors list the single features as well.
    """
    model = str(evaluation.get("model", "model"))
    own = evaluation.get(part) or {}
    naive = evaluation.get("naive") or {}
    splits = tuple(own)
    keys = dict.fromkeys(key for split in splits for key in own[split])
    horizons = tuple(sorted(int(key) for key in keys))
    names = tuple(variables) or reported_variables(evaluation)
    models = (model, *(name for name in naive if name != model))
    errors = np.full((len(models), len(splits), len(horizons), len(names)), math.nan)
    for index in np.ndindex(errors.shape):
        which, split, horizon, name = index
        table = own if which == 0 else naive[models[which]]
        cell = table.get(splits[split], {}).get(str(horizons[horizon]), {})
        errors[index] = finite(cell.get(names[name]))
    filled = np.isfinite(errors).any(axis=(1, 2, 3)) | (np.arange(len(models)) == 0)
    kept = tuple(name for name, there in zip(models, filled, strict=True) if there)
    reference = str(evaluation.get("skill_reference", REFERENCE))
    return Comparison(kept, splits, horizons, names, errors[filled], reference)


def reported_variables(evaluation: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables an evaluation reports, in its order."""
    for part in ("curve", "crps", "mse"):
        level: Any = evaluation.get(part) or {}
        # Curves are by model, split, variable; the others by split, horizon, variable.
        for _ in range(2):
            level = next(iter(level.values()), {})
        if level:
            return tuple(level)
    return ()


def split_name(split: str) -> str:
    """A split in words."""
    return _SPLITS.get(split, split)


def model_name(model: str) -> str:
    """A model in words."""
    names = {
        "last-value": "last value",
        REFERENCE: "constant velocity",
        "mean-value": "mean of the condition",
    }
    return names.get(model, model)


def against(ratio: float, other: str) -> str:
    """A ratio of errors in words, for instance "93 × below constant velocity"."""
    name = model_name(other)
    if not math.isfinite(ratio):
        return f"not comparable with {name}"
    if ratio == 0:
        return f"exact; {name} is not"
    if 0.9995 < ratio < 1.0005:
        return f"equal to {name}"
    if 0.9 < ratio < 1.1:
        return f"{100 * abs(ratio - 1):.1f} % {'below' if ratio < 1 else 'above'} {name}"
    return f"{times(1 / ratio)} below {name}" if ratio < 1 else f"{times(ratio)} above {name}"


def verdicts(comparison: Comparison) -> list[Verdict]:
    """What the errors mean, in plain words: warnings first, praise only where it is due."""
    found: list[Verdict] = []
    unknown = ~np.isfinite(comparison.errors[0])
    if unknown.any():
        cells = _cells(comparison, unknown, None)
        found.append(Verdict(False, f"The model has no finite error for {cells}."))
    others = comparison.models[1:]
    worse_anywhere = False
    for other in others:
        ratio = comparison.ratio(other)
        worse = (ratio > 1) if ratio is not None else np.zeros(unknown.shape, dtype=bool)
        if worse.any():
            worse_anywhere = True
            where = f"in {worse.sum()} of {worse.size} cells: {_cells(comparison, worse, ratio)}"
            if worse.all() and ratio is not None:
                where = f"in every cell of the table, by up to {excess(float(ratio.max()))}"
            words = f"Worse than {model_name(other)}, which learns nothing, {where}."
            found.append(Verdict(False, words))
    if others and not worse_anywhere and not unknown.any():
        *first, last = map(model_name, others)
        named = f"{', '.join(first)} and {last}" if first else last
        found.append(Verdict(True, f"Better than {named} in every cell of the table."))
    return found


def interval_verdicts(evaluation: Mapping[str, Any], variables: Sequence[str]) -> list[Verdict]:
    """Whether forecast intervals hold as much of the truth as they promise, at their worst."""
    found = []
    for level, splits in (evaluation.get("coverage") or {}).items():
        shares = [
            (finite(cell.get(name)), f"{name} at {horizon} frames {split_name(split)}")
            for split, horizons in splits.items()
            for horizon, cell in horizons.items()
            for name in variables
        ]
        known = [share for share in shares if math.isfinite(share[0])]
        if not known:
            continue
        nominal = float(level) / 100
        (low, where_low), (high, where_high) = min(known), max(known)
        if low < nominal - TOLERANCE:
            words = f"too narrow: at worst they hold {percent(low)} of {where_low}"
        elif high > nominal + TOLERANCE:
            words = f"wide: they hold up to {percent(high)} of {where_high}"
        else:
            words = f"about right: they hold {percent(low)} to {percent(high)} of the true values"
        good = low >= nominal - TOLERANCE
        found.append(Verdict(good, f"The {level} % intervals are {words}."))
    return found


def _cells(
    comparison: Comparison,
    chosen: Bool[np.ndarray, "split horizon variable"],
    ratio: Float[np.ndarray, "split horizon variable"] | None,
) -> str:
    """Chosen cells in words: "v at 12 frames out of distribution (1.3 ×), ..."."""
    words = []
    places = np.argwhere(chosen)
    if ratio is not None:  # The worst come first, since only a few are named.
        places = places[np.argsort(-ratio[chosen], kind="stable")]
    for split, horizon, variable in places:
        cell = (
            f"{comparison.variables[variable]} at {comparison.horizons[horizon]} frames "
            f"{split_name(comparison.splits[split])}"
        )
        factor = "" if ratio is None else f" ({excess(float(ratio[split, horizon, variable]))})"
        words.append(cell + factor)
    shown = words[:6] + ([f"and {len(words) - 6} more"] if len(words) > 6 else [])
    return ", ".join(shown)
