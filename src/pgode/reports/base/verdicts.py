"""Conclusions in one sentence each: better or worse than the naive models, and where."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from jaxtyping import Bool

from pgode.evaluation.evaluation import ScoreTable
from pgode.reports.base.comparison import Comparison, Ratio
from pgode.reports.base.names import model_name, split_name
from pgode.reports.base.numbers import excess, times

MAX_CELLS = 6
"""Cells of a table that one sentence names; further ones are only counted."""


NEAR_LAW = 10
"""A model whose error is at most so many times that of the known law is said to be near it."""


@dataclass(frozen=True)
class Verdict:
    """One sentence about the model; `good` is False where it is a warning."""

    good: bool
    text: str


def verdicts(comparison: Comparison) -> list[Verdict]:
    """Warnings about the errors; if there are none, that the model beats every naive model."""
    unknown = ~np.isfinite(comparison.errors[0])
    warnings = []
    if unknown.any():
        cells = _cells(comparison, unknown, None)
        warnings.append(Verdict(False, f"The model has no finite error for {cells}."))
    others = comparison.models[1:]
    for other in others:
        ratio = comparison.ratio(other)
        if ratio is not None and (ratio > 1).any():
            warnings.append(Verdict(False, _worse(comparison, other, ratio)))
    if warnings or not others:
        return warnings
    *first, last = map(model_name, others)
    names = f"{', '.join(first)} and {last}" if first else last
    return [Verdict(True, f"Better than {names} in every cell of the table.")]


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


def _worse(comparison: Comparison, other: str, ratio: Ratio) -> str:
    worse = ratio > 1
    where = f"in {worse.sum()} of {worse.size} cells: {_cells(comparison, worse, ratio)}"
    if worse.all():
        where = f"in every cell of the table, by up to {excess(float(ratio.max()))}"
    return f"Worse than {model_name(other)}, which learns nothing, {where}."


def _cells(
    comparison: Comparison,
    chosen: Bool[np.ndarray, "split horizon variable"],
    ratio: Ratio | None,
) -> str:
    """Names of the chosen cells: "v at 12 frames out of distribution (1.3 ×), ..."."""
    places = np.argwhere(chosen)
    if ratio is not None:  # The worst come first, since only a few are named.
        places = places[np.argsort(-ratio[chosen], kind="stable")]
    names = []
    for split, horizon, variable in places:
        cell = (
            f"{comparison.variables[variable]} at {comparison.horizons[horizon]} frames "
            f"{split_name(comparison.splits[split])}"
        )
        factor = "" if ratio is None else f" ({excess(float(ratio[split, horizon, variable]))})"
        names.append(cell + factor)
    more = len(names) - MAX_CELLS
    return ", ".join(names[:MAX_CELLS] + ([f"and {more} more"] if more > 0 else []))
