"""The numbers of a table or figure so far: ours, their spread over seeds, and the paper's."""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from pgode.evaluation.evaluate import NAIVE as USUAL
from pgode.reproduce.output.floor import Cell, floor_row, gained
from pgode.reproduce.plan.choice import Choice, Entry, chosen_rate, entries, trained_for, trials
from pgode.reproduce.plan.cost import cost_file
from pgode.reproduce.plan.regimes import regime_of
from pgode.reproduce.plan.trials import read_result
from pgode.reproduce.tables.catalogue import NAIVE, Experiment
from pgode.reproduce.tables.published import ROWS, PublishedTable, published_tables


def content(experiment: Experiment, choice: Choice, root: Path) -> dict[str, Any]:
    """Everything that is known of an experiment, as plain JSON; missing numbers are null."""
    head = {
        "name": experiment.name,
        "title": experiment.title,
        "kind": experiment.kind,
        "budget": choice.budget,
        "per_length": choice.per_length,
        "axis": None if experiment.axis is None else experiment.axis[0],
    }
    if experiment.kind == "cost":
        return {**head, "rows": _cost_rows(experiment, choice, root)}
    rows = [_row(entry, experiment, choice, root) for entry in entries(experiment)]
    if experiment.axis is None:
        for dataset in experiment.datasets:
            scored = _scored(dataset, experiment, choice, root)
            rows += _naive_rows(dataset, scored, experiment)
            floor = floor_row(dataset, scored, cells(experiment))
            if floor is not None:
                rows.append(floor)
    regime = regime_of(experiment.datasets[0])
    return {
        **head,
        "trained_horizon": regime.horizon,
        "digits": regime.digits,
        "cells": [list(cell) for cell in cells(experiment)],
        "rows": rows,
    }


def cells(experiment: Experiment) -> list[Cell]:
    """The columns of a table of errors."""
    return [
        (split, horizon, variable)
        for split in experiment.splits
        for horizon in experiment.horizons
        for variable in experiment.variables
    ]


def _row(entry: Entry, experiment: Experiment, choice: Choice, root: Path) -> dict[str, Any]:
    groups = trials(entry, experiment, choice, root) or {}
    results = {
        length: [found for trial in group if (found := read_result(trial, root)) is not None]
        for length, group in groups.items()
    }
    model, variant = ROWS.get(entry.row.published, ("", ""))
    table = published_tables().get(experiment.published or experiment.name)
    used = [result for group in results.values() for result in group]
    return {
        "dataset": entry.dataset,
        "label": entry.row.label,
        "model": entry.row.model,
        "preset": entry.row.preset,
        "settings": [list(pair) for pair in entry.row.settings],
        "place": entry.place,
        "learning_rate": chosen_rate(entry, choice, root),
        "seeds": [result["trial"]["seed"] for result in used],
        "seconds_per_epoch": mean(r["seconds_per_epoch"] for r in used) if used else None,
        "parameters": used[0]["parameters"] if used else None,
        "data_hash": used[0]["data_hash"] if used else None,
        "cells": [
            _cell(
                cell,
                results.get(trained_for(entry.dataset, cell[1], choice), []),
                *(entry, model, variant, table),
            )
            for cell in cells(experiment)
        ],
    }


def _cell(
    cell: Cell,
    results: Sequence[dict[str, Any]],
    entry: Entry,
    model: str,
    variant: str,
    table: PublishedTable | None,
) -> dict[str, Any]:
    split, horizon, variable = cell
    values = [result["mse"][split][str(horizon)][variable] for result in results]
    found = {
        "ours": mean(values) if values else None,
        "spread": stdev(values) if len(values) > 1 else None,
        "published": _published(table, entry.dataset, model, variant, cell),
    }
    if entry.row.model == "pgode" and any("noise_floor" in result for result in results):
        found["gained"] = gained(results, cell)
    return found


def _published(
    table: PublishedTable | None, dataset: str, model: str, variant: str, cell: Cell
) -> float | None:
    """The paper's number in plain units; None where it prints none."""
    if table is None:
        return None
    wanted = (dataset, model, variant, *cell)
    found = next((each for each in table.cells if each.key == wanted), None)
    return None if found is None else found.value * found.scale


def _scored(
    dataset: str, experiment: Experiment, choice: Choice, root: Path
) -> list[dict[str, Any]]:
    """The finished trials of a data set."""
    groups = [
        trials(entry, experiment, choice, root) or {}
        for entry in entries(experiment)
        if entry.dataset == dataset
    ]
    return [
        found
        for lengths in groups
        for group in lengths.values()
        for trial in group
        if (found := read_result(trial, root)) is not None
    ]


def _naive_rows(
    dataset: str, scored: Sequence[dict[str, Any]], experiment: Experiment
) -> list[dict[str, Any]]:
    """Those that learn nothing; every scored trial of the data set holds their errors."""
    rows = []
    there = {name for result in scored for name in result["naive"]}
    for name, label in NAIVE.items():
        if name not in there and name not in USUAL:
            continue
        values: list[dict[str, Any]] = []
        for split, horizon, variable in cells(experiment):
            found = (
                r["naive"].get(name, {}).get(split, {}).get(str(horizon), {}).get(variable)
                for r in scored
            )
            ours = next((value for value in found if value is not None), None)
            values.append({"ours": ours, "spread": None, "published": None})
        rows.append({"dataset": dataset, "label": label, "model": name, "cells": values})
    return rows


def _cost_rows(experiment: Experiment, choice: Choice, root: Path) -> list[dict[str, Any]]:
    rows = []
    table = published_tables()[experiment.name]
    for dataset in experiment.datasets:
        path = cost_file(dataset, choice.budget, root)
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": {}}
        reference = found["rows"].get("LSTM", {}).get("seconds")
        printed = table.value(dataset, "lstm", "", None, None, "seconds")
        for row in experiment.rows:
            seconds = found["rows"].get(row.label, {}).get("seconds")
            model, variant = ROWS[row.published]
            theirs = table.value(dataset, model, variant, None, None, "seconds")
            rows.append(
                {
                    "dataset": dataset,
                    "label": row.label,
                    "model": row.model,
                    "seconds": seconds,
                    "parameters": found["rows"].get(row.label, {}).get("parameters"),
                    "ratio": seconds / reference if seconds and reference else None,
                    "published_seconds": theirs,
                    "published_ratio": theirs / printed if theirs and printed else None,
                }
            )
    return rows
