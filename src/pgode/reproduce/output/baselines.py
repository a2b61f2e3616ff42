"""Rows that are not trained: the naive models, the known law and the noise floor."""

from collections.abc import Sequence
from statistics import mean

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.models.registry import NAIVE
from pgode.reports.base.names import KNOWN_LAW, NOISE_FLOOR, model_name
from pgode.reproduce.output.content import Column, Share, TableCell, TableRow

FLOOR = "noise-floor"
LAW = "known-law"


def naive_rows(
    dataset: str, evaluations: Sequence[Evaluation], columns: Sequence[Column]
) -> list[TableRow]:
    """The naive models; every scored trial of the data set has their errors.

    Two have a row even before any score; the others suit only some data.
    """
    scored = {name for evaluation in evaluations for name in evaluation.naive}

    def row(name: str) -> TableRow:
        tables = [evaluation.naive_mse(name) for evaluation in evaluations]
        return TableRow(
            dataset, model_name(name), name, _first_known(tables, columns), role="naive"
        )

    return [row(name) for name, entry in NAIVE.items() if name in scored or entry.naive == "always"]


def floor_rows(
    dataset: str, evaluations: Sequence[Evaluation], columns: Sequence[Column]
) -> list[TableRow]:
    """The known law and the noise floor, each as a row; none if no finished trial has it.

    Like the naive errors they are in every result of the data set, in the scale of its training
    split.
    """
    laws = [each.known_law for each in evaluations if each.known_law is not None]
    floors = [each.noise_floor.mse for each in evaluations if each.noise_floor is not None]
    return [
        TableRow(dataset, label, name, _first_known(tables, columns), role="floor")
        for label, name, tables in ((KNOWN_LAW, LAW, laws), (NOISE_FLOOR, FLOOR, floors))
        if tables
    ]


def share(evaluations: Sequence[Evaluation], column: Column) -> Share | None:
    """A model's share of the achievable improvement and its range; means over its seeds.

    It is measured on the systems with replicas only: the floor of the others is unknown. None
    where no floor is known.
    """
    floors = [each.noise_floor for each in evaluations if each.noise_floor is not None]
    if not floors:
        return None

    def over_seeds(tables: Sequence[ScoreTable | None]) -> float | None:
        values = [table.at(*column) for table in tables if table is not None]
        known = [value for value in values if value is not None]
        return mean(known) if known else None

    return (
        over_seeds([floor.share for floor in floors]),
        over_seeds([floor.share_low for floor in floors]),
        over_seeds([floor.share_high for floor in floors]),
    )


def _first_known(tables: Sequence[ScoreTable], columns: Sequence[Column]) -> tuple[TableCell, ...]:
    """Errors from the first table that has them: they do not depend on the trained model."""

    def error(column: Column) -> float | None:
        errors = (table.at(*column) for table in tables)
        return next((each for each in errors if each is not None), None)

    return tuple(TableCell(ours=error(column)) for column in columns)
