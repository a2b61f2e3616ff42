"""The content of a table or figure: typed, and as the JSON that is written beside it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from pgode.reproduce.tables.catalogue import Kind

Column = tuple[str, int, str]
"""(split, horizon, variable) of an error."""

Share = tuple[float | None, float | None, float | None]
"""The share of the achievable improvement, and both ends of its 90 % range."""

Role = Literal["model", "naive", "floor"]


@dataclass(frozen=True)
class TableCell:
    """One error: our mean over seeds, its standard deviation, and the paper's number."""

    ours: float | None = None
    spread: float | None = None
    published: float | None = None
    share: Share | None = None
    """Only of PGODE's rows, and only where a noise floor is known."""


@dataclass(frozen=True)
class TableRow:
    """One line: a trained model, a naive one, or the noise floor."""

    dataset: str
    label: str
    model: str
    cells: tuple[TableCell, ...]
    role: Role = "model"
    preset: str | None = None
    settings: tuple[tuple[str, Any], ...] = ()
    axis_value: int | None = None
    learning_rate: float | None = None
    seeds: tuple[int, ...] = ()
    seconds_per_epoch: float | None = None
    parameters: int | None = None
    data_hash: str | None = None
    other_data: bool = False
    """Whether a training of it saw other data than most trainings of the table."""
    diverged: bool = False
    """Trained, but without a finite error at any learning rate."""


@dataclass(frozen=True)
class TableContent:
    """A table or figure of errors; missing numbers are None."""

    name: str
    title: str
    kind: Kind
    budget: str
    per_length: bool
    trained_horizon: int
    digits: int
    """Errors are printed in units of 1e-digits."""
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    axis: str | None = None
    timed: bool = False
    """Whether seconds per epoch are shown."""

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, in order."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    def rows_of(self, dataset: str) -> list[TableRow]:
        """The rows of one data set."""
        return [row for row in self.rows if row.dataset == dataset]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


@dataclass(frozen=True)
class CostRow:
    """Seconds of an epoch of one model, ours and the paper's, and their ratios to the LSTM's."""

    dataset: str
    label: str
    model: str
    seconds: float | None
    parameters: int | None
    ratio: float | None
    published_seconds: float | None
    published_ratio: float | None


@dataclass(frozen=True)
class CostContent:
    """The table of training cost; missing numbers are None."""

    name: str
    title: str
    kind: Kind
    budget: str
    rows: tuple[CostRow, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, in order."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    def rows_of(self, dataset: str) -> list[CostRow]:
        """The rows of one data set."""
        return [row for row in self.rows if row.dataset == dataset]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)


Content = TableContent | CostContent
