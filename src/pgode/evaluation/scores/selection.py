"""Which metrics are computed for some data, and in which units."""

from collections.abc import Sequence

from pgode.batches.normaliser import Normaliser
from pgode.evaluation.predictions import Predictions
from pgode.evaluation.scores.metrics import METRICS, Metric, Rows, columns
from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError

SKILL = "mse"
"""The metric that skill, curves and verdicts are made of; it is always computed."""


def chosen_metrics(
    asked: Sequence[str] | None, normaliser: Normaliser, samples: int
) -> tuple[str, ...]:
    """The metrics to compute: those asked for and the squared error, or all that are possible.

    A metric that was asked for and is not possible is an error.
    """
    for name in asked or ():
        metric = METRICS[one_of("metric", name, METRICS)]
        if not metric.columns(normaliser):
            raise InputError(
                f"cannot compute {name}: no feature of the data is a position. Expected positions, "
                f"of which it is a distance. Name the roles of features when you import the data, "
                f"or choose another metric."
            )
        if metric.needs_samples and not samples:
            raise InputError(
                f"cannot compute {name} without samples. Expected at least one. Leave out "
                f"--samples 0, or choose another metric."
            )
    names = METRICS if asked is None else [SKILL, *asked]
    return tuple(
        name
        for name in METRICS
        if name in names
        and METRICS[name].columns(normaliser)
        and (samples or not METRICS[name].needs_samples)
    )


def column_units(normaliser: Normaliser) -> dict[str, str]:
    """The unit of each column of a table; empty where features of a column differ or have none."""
    found = columns(normaliser)
    for metric in METRICS.values():
        found.update(metric.columns(normaliser))
    return {name: _unit(normaliser, index) or "" for name, index in found.items()}


def in_own_units(
    metric: Metric, predictions: Predictions, normaliser: Normaliser, horizons: Sequence[int]
) -> Rows:
    """The rows of predictions that are in the data's own units.

    A column of features with different units has no number, since it would mean nothing.
    """
    rows = metric.rows(predictions, normaliser, horizons)
    mixed = {
        name
        for name, index in metric.columns(normaliser).items()
        if _unit(normaliser, index) is None
    }
    return {
        h: {name: None if name in mixed else value for name, value in row.items()}
        for h, row in rows.items()
    }


def _unit(normaliser: Normaliser, index: Sequence[int]) -> str | None:
    """The unit that all these features share; None if they do not."""
    units = {normaliser.units[k] for k in index}
    return units.pop() if len(units) == 1 else None
