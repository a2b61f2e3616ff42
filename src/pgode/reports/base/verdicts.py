"""Conclusions in one sentence each: better or worse than the naive models, and where."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from jaxtyping import Bool

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.comparison import Comparison, Ratio, compare
from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import excess, significant, times

MAX_CELLS = 6
"""Cells of a table that one sentence names; further ones are only counted."""


ABOUT_EQUAL = 0.98
"""A ratio of errors above this, and up to 1, is no improvement worth the name."""
NEAR_LAW = 10
"""A model whose error is at most so many times that of the known law is said to be near it."""


@dataclass(frozen=True)
class Verdict:
    """One sentence about the model; `good` is False where it is a warning."""

    good: bool
    text: str


def verdicts(comparison: Comparison) -> list[Verdict]:
    """How the model compares with the best naive model of each cell: the worst one, and all."""
    unknown = ~np.isfinite(comparison.errors[0])
    found = []
    if unknown.any():
        cells = _cells(comparison, unknown, None)
        found.append(Verdict(False, f"The model has no finite error for {cells}."))
    ratio = comparison.skill_ratio
    if ratio is None or not np.isfinite(ratio).any():
        return found
    known = ratio[np.isfinite(ratio)]
    worse = np.isfinite(ratio) & (ratio > 1)
    average = f"{significant(float(np.exp(np.log(known).mean())), 2)} × its error on average"
    better = int((known < 1).sum())
    if not worse.any() and known.min() > ABOUT_EQUAL:
        text = f"No better than the best naive model: {average}, and in no cell clearly below it."
        return [*found, Verdict(False, text)]
    if not worse.any():
        s, h, v = _worst(ratio)
        closest = f"closest for {_cell(comparison, s, h, v)} ({times(float(ratio[s, h, v]))} "
        closest += f"{comparison.naive_at(s, h, v)})"
        text = f"Better than the best naive model in {_share(better, known.size)}, {average}, "
        return [*found, Verdict(not unknown.any() and better > 0, f"{text}{closest}.")]
    s, h, v = _worst(ratio)
    text = (
        f"Worse than {comparison.naive_at(s, h, v)} for {_cell(comparison, s, h, v)}: "
        f"{excess(float(ratio[s, h, v]))}."
    )
    rest = worse.copy()
    rest[s, h, v] = False
    if rest.any():
        cells = _cells(comparison, rest, ratio, naive=True)
        text += f" Also worse than the best naive model for {cells}."
    if better:
        text += f" Better than the best naive model in {_share(better, known.size)}, {average}."
    else:
        text += f" In every cell no better than the best naive model, {average}."
    return [*found, Verdict(False, text)]


def feature_verdicts(evaluation: Evaluation, features: Sequence[str] = ()) -> list[Verdict]:
    """Features that are worse than a naive model while their pooled variable is not.

    A pooled mean is ruled by the feature with the largest errors, and hides the others.
    """
    single = tuple(features) or tuple(
        name for name in evaluation.mse.columns if name not in evaluation.variables
    )
    pooled, alone = compare(evaluation), compare(evaluation, single) if single else None
    if alone is None or alone.skill_ratio is None or pooled.skill_ratio is None:
        return []
    if not (pooled.skill_ratio <= 1).any():
        return []
    ratio = alone.skill_ratio
    worse = np.isfinite(ratio) & (ratio > 1)
    if not worse.any():
        return []
    cells = _cells(alone, worse, ratio, naive=True)
    return [Verdict(False, f"Single features worse than the best naive model: {cells}.")]


def gate_verdicts(evaluation: Evaluation) -> list[Verdict]:
    """A warning where a gate uses hardly more than one prototype.

    Not for force laws: their prototypes are kinds of objects, of which data may have one.
    """
    config = {} if evaluation.training is None else evaluation.training.config
    dynamics = config.get("model", {}).get("dynamics")
    if isinstance(dynamics, dict) and dynamics.get("kind") == "laws":
        return []
    collapsed = {
        split: use for split, use in (evaluation.gate_use or {}).items() if use.is_collapsed
    }
    return [
        Verdict(
            False,
            f"The gate has collapsed {split_name(split)}: of {use.prototypes} prototypes "
            f"{use.overall:.2f} are in use, so the mixture does no more than a single one.",
        )
        for split, use in list(collapsed.items())[:1]
    ]


def all_verdicts(evaluation: Evaluation, features: Sequence[str] = ()) -> list[Verdict]:
    """What a reader should know first of an evaluation, the comparison with naive models first."""
    comparison = compare(evaluation)
    return [
        *verdicts(comparison),
        *feature_verdicts(evaluation, features),
        *gate_verdicts(evaluation),
        *law_verdicts(comparison, evaluation.known_law),
    ]


def law_verdicts(comparison: Comparison, law: ScoreTable | None) -> list[Verdict]:
    """How far the model is above the known law, which nothing is expected to beat."""
    if law is None:
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = comparison.errors[0] / comparison.cells(law)
    known = ratio[np.isfinite(ratio)]
    if not known.size:
        return []
    low, high = (times(float(value)) for value in (known.min(), known.max()))
    spread = f"{low} to {high}" if low != high else low
    return [
        Verdict(
            bool(known.max() <= NEAR_LAW),
            f"The error is {spread} that of the known law: the simulator itself, started from the "
            f"last observed frame with its strength fitted to the observed ones.",
        )
    ]


def verdict_list(sentences: Sequence[Verdict]) -> str:
    """Sentences as a list; warnings are marked by text as well as by colour."""
    items = "".join(
        f'<li class="{"good" if verdict.good else "bad"}">'
        f"{'' if verdict.good else '<b>Note:</b> '}{escape(verdict.text)}</li>"
        for verdict in sentences
    )
    return f'<ul class="verdicts">{items}</ul>' if items else ""


def _share(count: int, of: int) -> str:
    if of == 1:
        return "the only cell" if count else "no cell"
    return f"all {of} cells" if count == of else f"{count} of {of} cells"


def _worst(ratio: Ratio) -> tuple[int, int, int]:
    """The cell with the largest ratio."""
    s, h, v = np.unravel_index(int(np.nanargmax(ratio)), ratio.shape)
    return int(s), int(h), int(v)


def _cell(comparison: Comparison, split: int, horizon: int, variable: int) -> str:
    return (
        f"{comparison.variables[variable]} at {comparison.horizons[horizon]} frames "
        f"{split_name(comparison.splits[split])}"
    )


def _cells(
    comparison: Comparison,
    chosen: Bool[np.ndarray, "split horizon variable"],
    ratio: Ratio | None,
    *,
    naive: bool = False,
) -> str:
    """Names of the chosen cells: "v at 12 frames out of distribution (1.3 ×), ..."."""
    places = np.argwhere(chosen)
    if ratio is not None:  # The worst come first, since only a few are named.
        places = places[np.argsort(-ratio[chosen], kind="stable")]
    names = []
    for split, horizon, variable in places:
        cell = _cell(comparison, split, horizon, variable)
        if ratio is not None:
            other = f" {comparison.naive_at(split, horizon, variable)}" if naive else ""
            cell += f" ({excess(float(ratio[split, horizon, variable]))}{other})"
        names.append(cell)
    more = len(names) - MAX_CELLS
    return ", ".join(names[:MAX_CELLS] + ([f"and {more} more"] if more > 0 else []))
