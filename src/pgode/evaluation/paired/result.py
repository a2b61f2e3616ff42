"""The result of comparing runs on the same windows, and its JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from pgode.evaluation.evaluation import ScoreTable

FAR = -0.9
"""A change below this is told as a factor: all of them are near -100 %."""


@dataclass(frozen=True)
class Difference:
    """How much lower or higher the error of a run is than that of the first, in one cell.

    `change` is error / error of the first run - 1; `low` and `high` are the ends of its 90 % range
    over resampled systems or windows.
    """

    run: str
    first: str
    horizon: int
    column: str
    change: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the range excludes no difference."""
        return self.low > 0 or self.high < 0

    @property
    def text(self) -> str:
        """The difference in a sentence."""
        where = f"for {self.column} at {self.horizon} frames"
        ends = sorted(abs(100 * each) for each in (self.low, self.high))
        if not self.clear:
            return (
                f"No clear difference between {self.run} and {self.first} {where}: "
                f"{100 * self.change:+.3g} % (90 % range {100 * self.low:+.3g} to "
                f"{100 * self.high:+.3g})."
            )
        if self.high < FAR:
            factors = [1 / (1 + each) for each in (self.change, self.high, self.low)]
            by = "{:.3g} times lower than {} {} (90 % range {:.3g} to {:.3g})"
            return f"{self.run} is {by.format(factors[0], self.first, where, *factors[1:])}."
        side = "lower" if self.change < 0 else "higher"
        return (
            f"{self.run} is {side} by {abs(100 * self.change):.3g} % than {self.first} {where} "
            f"(90 % range {ends[0]:.3g} to {ends[1]:.3g})."
        )


@dataclass(frozen=True)
class RunComparison:
    """Errors of several runs, and of the naive models, on the same forecast frames.

    All are in the scaled units of the first run. `unit` is what was resampled for the ranges of
    differences, systems or windows, and `units` how many of it there are. `curves` are errors at
    single frames, by run and column.
    """

    metric: str
    split: str
    origins: str
    horizons: tuple[int, ...]
    columns: tuple[str, ...]
    systems: int
    windows: int
    unit: str
    units: int
    errors: dict[str, ScoreTable]
    naive: dict[str, ScoreTable]
    curves: dict[str, dict[str, list[float | None]]]
    differences: tuple[Difference, ...]
    data_hash: str
    seed: int
    omitted: dict[str, str]

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs; the first is the one that others are compared with."""
        return tuple(self.errors)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """For each further run a sentence on each column, at the longest horizon."""
        last = max(self.horizons)
        return tuple(each.text for each in self.differences if each.horizon == last)

    def best_naive(self, horizon: int, column: str) -> tuple[str, float] | None:
        """The naive model with the lowest error of a cell, and that error."""
        errors = {name: table.at(self.split, horizon, column) for name, table in self.naive.items()}
        known = {name: error for name, error in errors.items() if error is not None}
        if not known:
            return None
        best = min(known, key=known.__getitem__)
        return best, known[best]

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "RunComparison":
        """Read back what `to_json` wrote."""
        return cls(
            **{
                each.name: content[each.name]
                for each in fields(cls)
                if each.name not in ("errors", "naive", "horizons", "columns", "differences")
            },
            errors={k: ScoreTable.from_json(v) for k, v in content["errors"].items()},
            naive={k: ScoreTable.from_json(v) for k, v in content["naive"].items()},
            horizons=tuple(content["horizons"]),
            columns=tuple(content["columns"]),
            differences=tuple(Difference(**each) for each in content["differences"]),
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        content = {each.name: getattr(self, each.name) for each in fields(self)}
        return content | {
            "errors": {name: table.to_json() for name, table in self.errors.items()},
            "naive": {name: table.to_json() for name, table in self.naive.items()},
            "horizons": list(self.horizons),
            "columns": list(self.columns),
            "differences": [asdict(each) for each in self.differences],
        }
