"""The table of errors in a terminal."""

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.comparison import Comparison, compare
from pgode.reports.base.names import KNOWN_LAW, NOISE_FLOOR, model_name
from pgode.reports.base.numbers import finite, in_units, significant

SMALL = 1e-3
"""Below this, in the unit of the table, the size of a floor is shown with one digit."""
SHARE_LABEL = "share of the achievable improvement"
"""(last value - model) / (last value - noise floor), on the systems with replicas."""


def error_table(evaluation: Evaluation) -> Table:
    """The table `pgode evaluate` prints: errors by split, model, horizon and variable.

    The lowest error of a column is bold. The skill is 1 - error / error of the reference, a naive
    model: 1 is perfect, 0 no better than the reference, below 0 worse.
    """
    comparison = compare(evaluation)
    scale = 10.0**comparison.exponent
    best, ratio = comparison.best, comparison.skill_ratio
    table = _empty_table(evaluation, comparison)
    for s, split in enumerate(comparison.splits):
        for m, model in enumerate(comparison.models):
            errors = comparison.errors[m, s].ravel() / scale
            cells = [
                Text(_narrow(error), style="bold green" if lowest else "")
                for error, lowest in zip(errors, best[m, s].ravel(), strict=True)
            ]
            name = Text(model_name(model), style="bold" if m == 0 else "")
            last = ratio is None and m == len(comparison.models) - 1
            table.add_row(Text(split if m == 0 else ""), name, *cells, end_section=last)
        for label, values in floor_rows(evaluation, split, comparison):
            shown = [Text(value, style="dim") for value in values]
            table.add_row(Text(""), Text(label, style="dim"), *shown)
        if ratio is not None:
            skill = [
                Text(_skill(value), style="bold red" if value < 0 else "dim")
                for value in 1 - ratio[s].ravel()
            ]
            table.add_row(Text(""), Text("skill", style="dim"), *skill, end_section=True)
    return table


def floor_rows(
    evaluation: Evaluation, split: str, comparison: Comparison
) -> list[tuple[str, list[str]]]:
    """What no model can be far below: the error of the known law, and the noise floor.

    With the noise floor comes the model's share of the achievable improvement. It is that of the
    systems with replicas, so it does not follow from the other rows; its 90 % range over resampled
    systems is in brackets.
    """
    columns = [(h, name) for h in comparison.horizons for name in comparison.variables]

    def errors(table: ScoreTable) -> list[str]:
        values = np.array([finite(table.at(split, *column)) for column in columns])
        return [_narrow(value) for value in values / 10.0**comparison.exponent]

    law, floor = evaluation.known_law, evaluation.noise_floor
    rows = [] if law is None or split not in law.splits else [(KNOWN_LAW, errors(law))]
    if floor is None or split not in floor.mse.splits:
        return rows
    rows.append((NOISE_FLOOR, errors(floor.mse)))
    if floor.share is not None and split in floor.share.splits:
        tables = (floor.share, floor.share_low, floor.share_high)
        cells = [
            percent_range(*(None if each is None else each.at(split, *column) for each in tables))
            for column in columns
        ]
        # On two lines, since the table should fit in 80 columns.
        rows.append((SHARE_LABEL.replace(" improvement", "\nimprovement"), cells))
    return rows


def _narrow(value: float) -> str:
    """A number that fits a narrow column, also if it is far below the others of the table."""
    return f"{value:.1e}" if 0 < value < SMALL else significant(value)


def percent_range(share: float | None, low: float | None, high: float | None) -> str:
    """A share with its range, if it has one. Below -100 % the exact value does not matter."""
    if share is None:
        return "-"
    if share < -1:
        return "< -100 %"
    limits = "" if low is None or high is None else f" ({100 * low:.0f} to {100 * high:.0f})"
    return f"{100 * share:.0f}{limits} %"


def _empty_table(evaluation: Evaluation, comparison: Comparison) -> Table:
    reference = model_name(comparison.reference)
    skill = "" if comparison.skill_ratio is None else f"; skill: 1 - error / that of {reference}"
    table = Table(
        title=f"Mean squared error of scaled values{in_units(comparison.exponent)}",
        title_justify="left",
        caption=f"bold: lowest{skill}{_law_caption(evaluation)}{_floor_caption(evaluation)}",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # narrow: three horizons of two variables fit in 80 columns
        pad_edge=False,
    )
    table.add_column("")
    table.add_column("", no_wrap=True)
    for horizon in comparison.horizons:
        for variable in comparison.variables:
            table.add_column(Text(f"{horizon}\n{variable}", justify="right"), justify="right")
    return table


def _law_caption(evaluation: Evaluation) -> str:
    if evaluation.known_law is None:
        return ""
    return (
        "\nknown law: the simulator itself, started from the last observed frame,"
        "\nwith its strength fitted to the observed frames"
    )


def _floor_caption(evaluation: Evaluation) -> str:
    floor = evaluation.noise_floor
    if floor is None or floor.share is None:
        return ""
    return (
        "\nshare: (last value - model) / (last value - noise floor)\n"
        f"on the {floor.conditions} systems with replicas only, with its 90 % range"
    )


def _skill(value: float) -> str:
    """Four decimals distinguish skills near 1; a very negative one needs none."""
    return f"{value:.4f}" if -10 < value <= 1 else significant(value)
