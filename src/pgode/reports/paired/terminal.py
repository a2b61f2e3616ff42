"""The table that `pgode compare` prints."""

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from pgode.evaluation.paired.result import RunComparison
from pgode.reports.base.numbers import significant
from pgode.reports.paired.rows import ComparedRows, how, title


def comparison_table(result: RunComparison) -> Table:
    """Errors by run, horizon and column; the lowest is bold. The last row is the best naive."""
    rows = ComparedRows.of(result)
    table = Table(
        title=Text(title(result, rows.exponent), no_wrap=True, overflow="ignore"),
        title_justify="left",
        caption=Text(how(result), no_wrap=True, overflow="ignore"),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for horizon in result.horizons:
        for column in result.columns:
            head = Text(f"{horizon}\n{column}", justify="right")
            table.add_column(head, justify="right", no_wrap=True)
    known = np.where(np.isfinite(rows.errors), rows.errors, np.inf)
    lowest = known.min(axis=0)
    for k, name in enumerate(rows.names):
        cells = [
            Text(significant(error), style="bold green" if error == best else "")
            for error, best in zip(rows.errors[k], lowest, strict=True)
        ]
        table.add_row(Text(name, style="dim" if k == len(rows.names) - 1 else "bold"), *cells)
    return table
