"""Cells of the robustness tables as text, the same in the terminal and on the page."""

from collections.abc import Sequence

from pgode.evaluation.robustness.result import (
    Comparison,
    Robustness,
    RunRobustness,
    Statistics,
)
from pgode.reports.base.numbers import MISSING, finite, significant

ANSWERS = {True: "yes", False: "no", None: MISSING}

MAX_PAIRS_IN_SENTENCES = 2
"""Comparisons up to this number are written as sentences; more of them form a table."""

COMPARISON_COLUMNS = ("several", "single", "displacement", "L", "premise", "lower bound")
"""Columns of `comparison_rows`."""

COMPARISON_NOTE = (
    "displacement: of the forecast at the last frame, smallest magnitude, several / single; L: of "
    "the full right-hand side, several / single; premise: L of every prototype is below that of "
    "the single one; answers in mean, in variance over systems"
)


def label(run: RunRobustness) -> str:
    """A run by its name and its number of prototypes, or its model."""
    if run.prototypes is not None:
        return f"{run.name} (K = {run.prototypes})"
    return run.name if run.name == run.model else f"{run.name} ({run.model})"


def number(value: float | None) -> str:
    """A number with few digits; a dash for None."""
    return significant(finite(value))


def statistics_cells(statistics: Statistics) -> list[str]:
    """Largest, mean, variance."""
    return [number(statistics.largest), number(statistics.mean), number(statistics.variance)]


def growth_rows(run: RunRobustness, horizons: Sequence[int]) -> list[list[str]]:
    """Quantity (forecast or state), magnitude, factor at each horizon, rate."""
    return [
        [
            part,
            f"{growth.magnitude:g}",
            *(number(growth.factor[h]) for h in horizons),
            number(growth.rate),
        ]
        for part, rows in (("forecast", run.forecast), ("state", run.state))
        for growth in rows or ()
    ]


def comparison_rows(result: Robustness) -> list[list[str]]:
    """One row of ratios and answers per pair; none if there are few enough for sentences."""
    runs = {run.name: run for run in result.runs}
    pairs = result.comparisons
    return [
        _comparison_row(pair, runs[pair.several], runs[pair.single])
        for pair in (pairs if len(pairs) > MAX_PAIRS_IN_SENTENCES else ())
    ]


def _comparison_row(pair: Comparison, several: RunRobustness, single: RunRobustness) -> list[str]:
    row = [label(several), label(single), f"{number(pair.displacement_ratio)} ×"]
    if pair.theorem is None:
        return [*row, "", "", ""]
    return [
        *row,
        _constant_ratio(several, single),
        ", ".join(ANSWERS[answer] for answer in pair.theorem.premise),
        ", ".join(ANSWERS[answer] for answer in pair.theorem.conclusion),
    ]


def _constant_ratio(several: RunRobustness, single: RunRobustness) -> str:
    """L of the full right-hand sides, several / single."""
    if several.lipschitz is None or single.lipschitz is None:
        return ""
    mean = finite(single.lipschitz.mixture.mean)
    return f"{significant(finite(several.lipschitz.mixture.mean) / mean)} ×" if mean else ""
