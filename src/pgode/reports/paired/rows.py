"""The errors of compared runs as rows, which the terminal and the page share."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pgode.evaluation.paired.result import RunComparison
from pgode.evaluation.scores.metrics import METRICS
from pgode.reports.base.names import model_name, split_name
from pgode.reports.base.numbers import finite, in_units, suitable_exponent

BEST_NAIVE = "best naive model"


@dataclass(frozen=True)
class ComparedRows:
    """Rows of errors, divided by a power of ten; the last is the best naive model of each cell."""

    names: tuple[str, ...]
    errors: Float[np.ndarray, "row cell"]
    naive: tuple[str, ...]
    """The best naive model of each cell."""
    exponent: int

    @classmethod
    def of(cls, result: RunComparison) -> "ComparedRows":
        """The rows of a result."""
        cells = [(h, column) for h in result.horizons for column in result.columns]
        rows = [
            [finite(result.errors[run].at(result.split, *cell)) for cell in cells]
            for run in result.runs
        ]
        best = [result.best_naive(*cell) for cell in cells]
        names = tuple("" if each is None else model_name(each[0]) for each in best)
        rows.append([np.nan if each is None else each[1] for each in best])
        exponent = suitable_exponent(np.array(rows[:-1]).ravel())
        return cls((*result.runs, BEST_NAIVE), np.array(rows) / 10.0**exponent, names, exponent)


def title(result: RunComparison, exponent: int) -> str:
    """What the numbers of the table are."""
    return f"{METRICS[result.metric].title} of scaled values{in_units(exponent)}"


def how(result: RunComparison) -> str:
    """What was compared, and what the ranges are of, in a sentence."""
    return (
        f"{result.windows} windows of {result.systems} systems {split_name(result.split)}, origins "
        f"{result.origins}; scaled units of {result.runs[0]}; ranges over resampled {result.unit} "
        f"({result.units})"
    )
