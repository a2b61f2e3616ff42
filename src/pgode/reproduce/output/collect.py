"""The numbers of a table or figure so far: ours, their spread over seeds, and the paper's."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from pgode.evaluation.evaluation import Evaluation
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.output.baselines import floor_rows, naive_rows, share
from pgode.reproduce.output.content import (
    Column,
    Content,
    CostContent,
    CostRow,
    TableCell,
    TableContent,
    TableRow,
)
from pgode.reproduce.output.totals import baseline_rows, total_cell
from pgode.reproduce.plan.results import Result
from pgode.reproduce.plan.selection import (
    Combination,
    Selection,
    combinations,
    full_results,
    learning_rate,
    trained_horizon,
)
from pgode.reproduce.runner.cost import EpochCost, read_cost, timed_name
from pgode.reproduce.tables.catalogue import Experiment
from pgode.reproduce.tables.published import ROWS, published_tables


def collect(experiment: Experiment, selection: Selection, root: Path) -> Content:
    """All results of an experiment so far."""
    if experiment.kind == "cost":
        return collect_cost(experiment, selection.budget, root)
    if experiment.kind == "totals":
        return collect_totals(experiment, selection, root)
    return collect_errors(experiment, selection, root)


def filled_rows(experiment: Experiment, selection: Selection, root: Path) -> tuple[int, int]:
    """How many rows have a result, and how many there are, over all data sets and axis values."""
    if experiment.kind == "cost":
        costs = collect_cost(experiment, selection.budget, root).rows
        return sum(row.parameters is not None for row in costs), len(costs)
    every = combinations(experiment)
    done = [any(full_results(each, experiment, selection, root).values()) for each in every]
    return sum(done), len(done)


def collect_errors(experiment: Experiment, selection: Selection, root: Path) -> TableContent:
    """The rows of a table or figure of errors, with naive models and the noise floor below.

    A figure has only its models.
    """
    results = _results(experiment, selection, root)
    rows = _rows(results, experiment, selection, root)
    if experiment.axis is None:
        for dataset in experiment.datasets:
            evaluations = _evaluations(_on_usual_data(dataset, results))
            rows += naive_rows(dataset, evaluations, columns(experiment))
            rows += floor_rows(dataset, evaluations, columns(experiment))
    return _table(experiment, selection, rows)


def _table(experiment: Experiment, selection: Selection, rows: Sequence[TableRow]) -> TableContent:
    first = DATASETS[experiment.datasets[0]]
    return TableContent(
        name=experiment.name,
        title=experiment.title,
        kind=experiment.kind,
        budget=selection.budget,
        per_length=selection.per_length,
        trained_horizon=first.horizon,
        digits=first.digits,
        columns=tuple(columns(experiment)),
        rows=tuple(rows),
        axis=None if experiment.axis is None else experiment.axis.label,
        timed=experiment.timed,
    )


def collect_totals(experiment: Experiment, selection: Selection, root: Path) -> TableContent:
    """The rows of a table of window totals, with the baselines below."""
    results = _results(experiment, selection, root)
    rows = _rows(results, experiment, selection, root)
    for dataset in experiment.datasets:
        rows += baseline_rows(dataset, _on_usual_data(dataset, results), columns(experiment))
    return _table(experiment, selection, rows)


Results = dict[Combination, dict[int, list[Result]]]
"""The finished trials of every row, by trained horizon."""


def _results(experiment: Experiment, selection: Selection, root: Path) -> Results:
    return {
        combination: full_results(combination, experiment, selection, root)
        for combination in combinations(experiment)
    }


def _rows(
    results: Results, experiment: Experiment, selection: Selection, root: Path
) -> list[TableRow]:
    """The trained rows; those that saw other data than most of their data set say so."""
    usual = {name: _usual_hash(_of_data(name, results)) for name in experiment.datasets}

    def other_data(combination: Combination) -> bool:
        hashes = {result.data_hash for result in _all(results[combination])}
        return bool(hashes - {usual[combination.dataset]})

    return [
        replace(
            _row(combination, finished, experiment, selection, root),
            other_data=other_data(combination),
        )
        for combination, finished in results.items()
    ]


def _on_usual_data(dataset: str, results: Results) -> list[Result]:
    """The results of a data set that were made with the data of most."""
    every = _of_data(dataset, results)
    return [result for result in every if result.data_hash == _usual_hash(every)]


def _of_data(dataset: str, results: Results) -> list[Result]:
    return [
        result
        for combination, finished in results.items()
        if combination.dataset == dataset
        for result in _all(finished)
    ]


def _usual_hash(results: Sequence[Result]) -> str | None:
    """The data of most results; a protein simulated on another machine may differ."""
    hashes = Counter(result.data_hash for result in results).most_common(1)
    return hashes[0][0] if hashes else None


def columns(experiment: Experiment) -> list[Column]:
    """The columns of a table of errors."""
    return [
        (split, horizon, variable)
        for split in experiment.splits
        for horizon in experiment.horizons
        for variable in experiment.variables
    ]


def _row(
    combination: Combination,
    results: dict[int, list[Result]],
    experiment: Experiment,
    selection: Selection,
    root: Path,
) -> TableRow:
    row, finished = combination.row, _all(results)

    def cell(column: Column) -> TableCell:
        length = trained_horizon(combination.dataset, column[1], selection)
        published = _published(experiment, combination, column)
        trained = results.get(length, [])
        if experiment.kind == "totals":
            return total_cell(trained, column, published)
        return _cell(combination, column, _evaluations(trained), published)

    return TableRow(
        dataset=combination.dataset,
        label=row.label,
        model=row.model,
        cells=tuple(cell(column) for column in columns(experiment)),
        preset=row.preset,
        settings=row.settings,
        axis_value=combination.axis_value,
        learning_rate=finished[0].trial.rate
        if finished
        else learning_rate(combination, selection, root),
        seeds=tuple(result.trial.seed for result in finished if not result.diverged),
        seconds_per_epoch=_seconds(combination, finished, experiment, selection, root),
        parameters=finished[0].parameters if finished else None,
        data_hash=finished[0].data_hash if finished else None,
        diverged=bool(finished) and all(result.diverged for result in finished),
    )


def _seconds(
    combination: Combination,
    finished: Sequence[Result],
    experiment: Experiment,
    selection: Selection,
    root: Path,
) -> float | None:
    """Of an epoch: as measured in one process where that is shown, else as the trainings took."""
    if not experiment.timed:
        return mean(result.seconds_per_epoch for result in finished) if finished else None
    measured = read_cost(experiment, combination.dataset, selection.budget, root)
    name = timed_name(combination.row.label, combination.axis_value)
    cost = None if measured is None else measured.rows.get(name)
    return cost.seconds if cost is not None and cost.parameters else None


def _cell(
    combination: Combination,
    column: Column,
    evaluations: Sequence[Evaluation],
    published: float | None,
) -> TableCell:
    errors = [evaluation.mse.at(*column) for evaluation in evaluations]
    known = [error for error in errors if error is not None]
    return TableCell(
        ours=mean(known) if known else None,
        spread=stdev(known) if len(known) > 1 else None,
        published=published,
        share=share(evaluations, column) if combination.row.model == "pgode" else None,
    )


def _published(experiment: Experiment, combination: Combination, column: Column) -> float | None:
    """The paper's number in plain units; None where it prints none."""
    table = published_tables().get(experiment.published)
    if table is None:
        return None
    model, variant = ROWS.get(combination.row.published, ("", ""))
    cell = table.cell(combination.dataset, model, variant, *column)
    return None if cell is None else cell.value * cell.scale


def _all(results: dict[int, list[Result]]) -> list[Result]:
    return [result for group in results.values() for result in group]


def _evaluations(results: Sequence[Result]) -> list[Evaluation]:
    return [result.evaluation for result in results if result.evaluation is not None]


def collect_cost(experiment: Experiment, budget: str, root: Path) -> CostContent:
    """The rows of the table of training cost."""
    rows = []
    table = published_tables()[experiment.published]
    for dataset in experiment.datasets:
        measured = read_cost(experiment, dataset, budget, root)
        costs: dict[str, EpochCost] = {} if measured is None else measured.rows
        ours_lstm = costs["LSTM"].seconds if "LSTM" in costs else None
        paper_lstm = table.value(dataset, "lstm", "", None, None, "seconds")
        for row in experiment.rows:
            cost = costs.get(row.label)
            seconds = cost.seconds if cost is not None and cost.parameters else None
            model, variant = ROWS[row.published]
            printed = table.value(dataset, model, variant, None, None, "seconds")
            rows.append(
                CostRow(
                    dataset=dataset,
                    label=row.label,
                    model=row.model,
                    seconds=seconds,
                    parameters=None if cost is None else cost.parameters,
                    ratio=_ratio(seconds, ours_lstm),
                    published_seconds=printed,
                    published_ratio=_ratio(printed, paper_lstm),
                )
            )
    return CostContent(experiment.name, experiment.title, experiment.kind, budget, tuple(rows))


def _ratio(value: float | None, reference: float | None) -> float | None:
    return value / reference if value and reference else None
