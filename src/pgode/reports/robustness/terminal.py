"""The tables of `pgode robustness` in the terminal."""

from rich import box
from rich.table import Table
from rich.text import Text

from pgode.evaluation.robustness.result import Robustness
from pgode.reports.robustness.rows import (
    COMPARISON_COLUMNS,
    COMPARISON_NOTE,
    comparison_rows,
    growth_rows,
    label,
    number,
)


def growth_table(result: Robustness) -> Table:
    """Growth factors and rates."""
    table = _table(
        "Growth of a perturbation: mean norm of the difference / magnitude, by frames ahead",
        "rate: r of the fit exp(r frame), per frame",
    )
    for head in ("run", "difference of"):
        table.add_column(head, no_wrap=True)
    for head in ("magnitude", *map(str, result.horizons), "rate"):
        table.add_column(head, justify="right")
    for run in result.runs:
        rows = growth_rows(run, result.horizons)
        for k, cells in enumerate(rows):
            name = Text(label(run) if k == 0 else "", style="bold")
            table.add_row(name, *cells, end_section=k == len(rows) - 1)
    return table


def bound_table(result: Robustness) -> Table | None:
    """Lipschitz constants, bounds and the fastest measured growth; None if no run has them."""
    table = _table(
        "Rates per frame: fastest measured growth beside the bounds from Lipschitz constants",
        "effective K: exp(entropy) of the gate weights; L: constant of the right-hand side; "
        "theorem: rate of the bound of Theorem 3.1; L and theorem are the largest over systems",
    )
    table.add_column("run", no_wrap=True)
    for head in ("effective K", "fastest step", "L", "theorem"):
        table.add_column(head, justify="right")
    table.add_column("L of each prototype")
    for run in result.runs:
        if run.lipschitz is None or run.bound is None:
            continue
        constants = [number(each.constant.largest) for each in run.lipschitz.prototypes]
        table.add_row(
            Text(label(run), style="bold"),
            f"{run.lipschitz.effective_prototypes:.1f} of {run.prototypes}",
            number(run.bound.fastest_step),
            number(run.lipschitz.mixture.largest),
            number(run.bound.theorem.largest),
            ", ".join(constants) if len(constants) > 1 else "",
        )
    return table if table.row_count else None


def comparison_table(result: Robustness) -> Table | None:
    """Several prototypes beside one; None if sentences are used instead."""
    rows = comparison_rows(result)
    if not rows:
        return None
    table = _table(
        "Several prototypes beside one: ratios, and premise and conclusion of Theorem 3.1",
        COMPARISON_NOTE,
    )
    for title in COMPARISON_COLUMNS:
        names = title in COMPARISON_COLUMNS[:2]
        table.add_column(title, justify="left" if names else "right", no_wrap=names)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _table(title: str, caption: str) -> Table:
    return Table(
        title=title,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
