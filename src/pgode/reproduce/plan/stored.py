"""The form of a stored result of a trial, and of a measurement of cost."""

from typing import Any

from pydantic import ConfigDict

from pgode.evaluation.stored_floor import Table
from pgode.runtime.stored.schema import AtLeastOne, Count, NotNegative, Positive, Stored

Tables = dict[str, Table]


class StoredTrial(Stored):
    """The entries of `pgode.reproduce.plan.trials.Trial`."""

    dataset: str
    budget: str
    model: str
    preset: str
    settings: list[Any]
    epochs: AtLeastOne
    rate: Positive
    seed: Count
    condition: Count
    horizon: Count
    systems: Count
    digest: str = ""


class StoredScores(Stored):
    """What tables read of an evaluation; the rest is read by `Evaluation.from_json`."""

    model_config = ConfigDict(extra="allow")

    scores: Tables
    naive: dict[str, Tables]


class StoredTotals(Stored):
    """The entries of `pgode.evaluation.covid.result.TotalScores`."""

    model: Table
    naive: Tables
    spread: dict[str, Any]


class StoredResult(Stored):
    """The entries of `pgode.reproduce.plan.results.Result`."""

    trial: StoredTrial
    validation: NotNegative | None
    epochs: Count
    seconds_per_epoch: NotNegative
    memory_gb: NotNegative | None
    parameters: Count
    threads: AtLeastOne | None
    data_hash: str
    pgode: str
    evaluation: StoredScores | None
    totals: StoredTotals | None = None


class StoredEpochCost(Stored):
    """The entries of `pgode.reproduce.runner.cost.EpochCost`."""

    seconds: NotNegative
    parameters: Count


class StoredCost(Stored):
    """The entries of `pgode.reproduce.runner.cost.CostMeasurement`."""

    dataset: str
    threads: AtLeastOne
    pgode: str
    steps_per_epoch: AtLeastOne
    rows: dict[str, StoredEpochCost]
