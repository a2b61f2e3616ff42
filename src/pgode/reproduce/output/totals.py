"""Cells and rows of a table of window totals: its models, and the baselines below them."""

from collections.abc import Sequence
from statistics import mean, stdev

from pgode.evaluation.covid.baselines import BASELINES
from pgode.reproduce.output.content import Column, TableCell, TableRow
from pgode.reproduce.plan.results import Result

LEGEND = (
    "Deaths of a state in the whole window, forecast minus truth: MAE is the mean over states, "
    "then over windows; RMSE is over the states of each window, then the mean over windows. "
    "Horizons are in days. Ours, then the paper's in brackets. Bold: the lowest of ours in a "
    "column. ▲: ours is above the paper's. ±: standard deviation over seeds. All models see means "
    "over seven days of deaths and cases, under a square root, for 42 days; the paper's condition "
    "is 14, 21 or 42."
)
QUANTILES = (
    " WIS: weighted interval score of 23 quantiles. Coverage: per cent of the truth within the "
    "90 % interval. Quantiles are those of residuals on the validation windows."
)


def total_cell(results: Sequence[Result], column: Column, published: float | None) -> TableCell:
    """One score of a model: the mean over seeds, and its spread."""
    scores = [result.totals.model.at(*column) for result in results if result.totals is not None]
    known = [score for score in scores if score is not None]
    return TableCell(
        ours=mean(known) if known else None,
        spread=stdev(known) if len(known) > 1 else None,
        published=published,
    )


def baseline_rows(
    dataset: str, results: Sequence[Result], columns: Sequence[Column]
) -> list[TableRow]:
    """The baselines, which every finished trial has scored on the same data.

    They have no quantiles, so they are not in a table of these alone.
    """
    columns = tuple(columns)
    if all(column[2] in ("wis", "coverage") for column in columns):
        return []
    scored = [result.totals.naive for result in results if result.totals is not None]

    def cell(name: str, column: Column) -> TableCell:
        found = (tables[name].at(*column) for tables in scored if name in tables)
        return TableCell(ours=next((each for each in found if each is not None), None))

    return [
        TableRow(
            dataset, label, name, tuple(cell(name, column) for column in columns), role="naive"
        )
        for name, (label, _) in BASELINES.items()
    ]
