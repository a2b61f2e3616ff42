"""The numbers that the paper printed, table by table.

One file per table in `data/`, laid out so that it can be checked against the page line by line:
what all cells share, the columns, the labels of a row, then the rows. Here each number becomes a
`Cell` with its full description. Table 4 of the paper has no results, only the ranges of the
systems' parameters; those are in `pgode.data.simulate`.
"""

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

ROWS: dict[str, tuple[str, str]] = {
    "LSTM": ("lstm", ""),
    "GRU": ("gru", ""),
    "NODE": ("node", ""),
    "LG-ODE": ("lg-ode", ""),
    "MPNODE": ("mpnode", ""),
    "SocialODE": ("social-ode", ""),
    "HOPE": ("hope", ""),
    "NRI": ("nri", ""),
    "AgentFormer": ("agentformer", ""),
    "I-GPODE": ("i-gpode", ""),
    "EGNN": ("egnn", ""),
    "EqMotion": ("eqmotion", ""),
    "PGODE": ("pgode", ""),
    "PGODE w/o O": ("pgode", "w/o O"),
    "PGODE w/o ε": ("pgode", "w/o system"),
    "PGODE w/o F": ("pgode", "w/o F"),
    "PGODE w/o D": ("pgode", "w/o D"),
    "PGODE w. Single": ("pgode", "w. Single"),
    "PGODE w. MLP": ("pgode", "w. MLP"),
    "PGODE-S": ("pgode", "PGODE-S"),
    "PGODE w. GIN": ("pgode", "w. GIN"),
    "PGODE w. GraphSAGE": ("pgode", "w. GraphSAGE"),
    "PGODE w. GCN": ("pgode", "w. GCN"),
}
"""Model (its name in the registry) and variant behind each name that the paper prints."""


@dataclass(frozen=True)
class Cell:
    """One printed number; the quantity itself is `value * scale`."""

    dataset: str
    row: str
    """As printed, without "(Ours)"."""
    model: str
    variant: str
    """Empty for the model itself."""
    split: str | None
    """The part of the data: "test" (in distribution) or "ood"; None for training cost."""
    horizon: int | None
    """Forecast frames, which are days for COVID-19; None for training cost."""
    variable: str
    """The variable of a squared error (q, v, qx, ...); or "mae", "rmse" or "seconds"."""
    value: float
    printed: str
    """The value with the digits of the page: "0.920"."""
    scale: float

    @property
    def key(self) -> tuple[str, str, str, str | None, int | None, str]:
        """The arguments of `PublishedTable.value`, in order."""
        return self.dataset, self.model, self.variant, self.split, self.horizon, self.variable


@dataclass(frozen=True)
class PublishedTable:
    """One table of the paper, in the order of the page."""

    name: str
    number: int
    title: str
    cells: tuple[Cell, ...]

    def value(
        self,
        dataset: str,
        model: str,
        variant: str,
        split: str | None,
        horizon: int | None,
        variable: str,
    ) -> float | None:
        """The number as printed, without its scale; None where the paper has none."""
        cell = self.cell(dataset, model, variant, split, horizon, variable)
        return None if cell is None else cell.value

    def cell(self, *key: str | int | None) -> Cell | None:
        """The cell of this key; None where the paper has none."""
        return next((cell for cell in self.cells if cell.key == key), None)


@cache
def published_tables() -> dict[str, PublishedTable]:
    """All tables with results, by their names ("table1", "table2", ...), in the paper's order."""
    tables = [
        _table(file.name.removesuffix(".json"), file.read_text(encoding="utf-8"))
        for file in (files("pgode.reproduce.tables") / "data").iterdir()
        if file.name.endswith(".json")
    ]
    return {table.name: table for table in sorted(tables, key=lambda table: table.number)}


def _table(name: str, text: str) -> PublishedTable:
    """Describe each number of a file by the labels of its table, its row and its column."""
    content: dict[str, Any] = json.loads(text, parse_float=Decimal)  # keeps trailing zeros
    labels, columns = content["labels"], content["columns"]
    heads = [dict(zip(columns, head, strict=True)) for head in zip(*columns.values(), strict=True)]
    cells = []
    for line in content["rows"]:
        shared = content["all"] | dict(zip(labels, line[: len(labels)], strict=True))
        for head, number in zip(heads, line[len(labels) :], strict=True):
            cells.append(_cell(number, shared | head, content["scale"]))
    return PublishedTable(name, content["number"], content["title"], tuple(cells))


def _cell(number: Decimal, described: dict[str, Any], scale: dict[str, Decimal | int]) -> Cell:
    model, variant = ROWS[described["row"]]
    return Cell(
        **described,
        model=model,
        variant=variant,
        value=float(number),
        printed=str(number),
        scale=float(scale[described["dataset"]]),
    )
