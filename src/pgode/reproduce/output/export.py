"""All results of a folder as one table, a row for each number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgode.evaluation.evaluation import ScoreTable
from pgode.reports.base.names import KNOWN_LAW, NOISE_FLOOR
from pgode.reproduce.plan.results import Result, all_results
from pgode.runs.exchange.forecast_tables import check_table_output, write_frame
from pgode.runtime.errors import InputError
from pgode.runtime.outputs import claim_output

Line = dict[str, Any]


def export_results(root: Path, path: Path, *, overwrite: bool) -> int:
    """Write all results of a folder as CSV or Parquet; the number of rows.

    Naive models, the known law and the noise floor have rows too, for each data set and condition:
    they do not depend on what was trained. Short runs that choose a learning rate have no scores,
    and so no rows.
    """
    import pandas as pd

    check_table_output(path)
    claim_output(path, inputs=[root / "results"], overwrite=overwrite)
    found = all_results(root)
    lines = [line for name, result in found.items() for line in _lines(name, result)]
    if not lines:
        raise InputError(
            f"{root} holds no results. Expected a folder of pgode reproduce with finished "
            f"trainings. Name it with -o, or run pgode reproduce first."
        )
    # Every result has them, so the first of a data set and condition is as good as any.
    untrained: dict[tuple[Any, ...], Line] = {}
    for result in found.values():
        for line in _untrained(result):
            identity = tuple(value for key, value in line.items() if key != "error")
            untrained.setdefault(identity, line)
    table = pd.DataFrame([*lines, *untrained.values()])
    whole = ("seed", "condition", "trained_horizon", "epochs", "parameters", "threads")
    write_frame(table.astype(dict.fromkeys(whole, "Int64")), path)
    return len(table)


def _lines(name: str, result: Result) -> Iterator[Line]:
    trial = result.trial
    shared: Line = {
        "data": trial.dataset,
        "role": "model",
        "model": trial.model,
        "preset": trial.preset,
        "settings": "; ".join(f"{key}={value}" for key, value in trial.settings),
        "budget": trial.budget,
        "seed": trial.seed,
        "condition": trial.condition,
        "trained_horizon": trial.horizon,
        "learning_rate": trial.rate,
    }
    made: Line = {
        "epochs": result.epochs,
        "seconds": round(result.epochs * result.seconds_per_epoch, 2),
        "memory_gb": result.memory_gb,
        "parameters": result.parameters,
        "threads": result.threads,
        "data_hash": result.data_hash,
        "settings_hash": trial.digest,
        "pgode": result.pgode,
        "result": name,
    }
    if result.evaluation is not None:
        yield from ({**shared, **cell, **made} for cell in _cells(result.evaluation.mse, "mse"))
    if result.totals is not None:
        yield from ({**shared, **cell, **made} for cell in _cells(result.totals.model))


def _untrained(result: Result) -> Iterator[Line]:
    """The rows of a result that every model of its data set shares."""
    data, data_hash = result.trial.dataset, result.data_hash
    tables: list[tuple[str, str, ScoreTable, str]] = []
    if result.evaluation is not None:
        scores = result.evaluation
        tables += [("naive", name, scores.naive_mse(name), "mse") for name in scores.naive]
        if scores.known_law is not None:
            tables.append(("floor", KNOWN_LAW, scores.known_law, "mse"))
        if scores.noise_floor is not None:
            tables.append(("floor", NOISE_FLOOR, scores.noise_floor.mse, "mse"))
    if result.totals is not None:
        tables += [("naive", name, table, "") for name, table in result.totals.naive.items()]
    for role, model, table, score in tables:
        shared = {
            "data": data,
            "role": role,
            "model": model,
            "condition": result.trial.condition,
            "data_hash": data_hash,
        }
        yield from ({**shared, **cell} for cell in _cells(table, score))


def _cells(table: ScoreTable, score: str = "") -> Iterator[Line]:
    """Each number of a table; without a name of the score, that is what its columns are."""
    for split in table.splits:
        for horizon in table.horizons:
            for column, error in table.row(split, horizon).items():
                variable, named = (column, score) if score else ("deaths", column)
                yield {
                    "split": split,
                    "horizon": horizon,
                    "variable": variable,
                    "score": named,
                    "error": error,
                }
