"""The form of the files of a trial."""

from typing import Any, Literal

from pgode.runtime.stored.schema import AtLeastOne, Count, NotNegative, Stored

Curve = list[NotNegative | None]
"""Validation errors by epoch; infinite ones are null."""


class StoredPlan(Stored):
    """The entries of `pgode.tuning.trials.files.TrialPlan`."""

    index: Count
    values: dict[str, bool | int | float | str | None]
    config: dict[str, Any]
    data_hash: str
    source: str
    history: list[Curve]
    warm_up: AtLeastOne | None


class StoredResult(Stored):
    """The entries of `pgode.tuning.trials.files.TrialResult`."""

    index: Count
    state: Literal["complete", "pruned", "failed"]
    errors: Curve
    seconds: NotNegative
    parameters: Count
    reason: str = ""


class StoredSearch(Stored):
    """The entries of `tuning.json`; settings and space are checked where they are used."""

    format: Literal[1]
    pgode: str
    data_hash: str
    source: str
    asked: dict[str, Any]
    config: dict[str, Any]
    space: dict[str, list[Any] | dict[str, Any]]
    prune: bool
