"""The table of errors in a terminal."""

from typing import Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from pgode.reports.base.numbers import in_units, significant
from pgode.reports.run.comparison import Comparison, compare, model_name

FLOOR = "noise floor"
GAINED_KEYS = ("gained", "gained_low", "gained_high")
GAINED = "gained of what can be"
SHARE_LABEL = "share of the achievable improvement"
"""(last value - ours) / (last value - noise floor), on the systems with replicas."""


def error_table(evaluation: dict[str, Any]) -> Table:
    """The table `pgode evaluate` prints: errors by split, model, horizon and variable.

    The lowest error of a column is bold. The skill line is 1 - error / error of the naive model
    that is the reference: 1 is perfect, 0 no better, below 0 worse.
    """
    comparison = compare(evaluation)
    scale = 10.0**comparison.exponent
    best, ratio = comparison.best, comparison.skill_ratio
    reference = model_name(comparison.reference)
    skill_words = "" if ratio is None else f"; skill: 1 - error / that of {reference}"
    table = Table(
        title=f"Mean squared error of scaled values{in_units(comparison.exponent)}",
        title_justify="left",
        caption=f"bold: lowest{skill_words}{_floor_words(evaluation)}",
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
    for s, split in enumerate(comparison.splits):
        for m, model in enumerate(comparison.models):
            errors = comparison.errors[m, s].ravel() / scale
            cells = [
                Text(significant(error), style="bold green" if lowest else "")
                for error, lowest in zip(errors, best[m, s].ravel(), strict=True)
            ]
            name = Text(model_name(model), style="bold" if m == 0 else "")
            last = ratio is None and m == len(comparison.models) - 1
            table.add_row(Text(split if m == 0 else ""), name, *cells, end_section=last)
        for words, values in floor_rows(evaluation, split, comparison):
            shown = [Text(value, style="dim") for value in values]
            table.add_row(Text(""), Text(words, style="dim"), *shown)
        if ratio is not None:
            skill = [
                Text(_skill(value), style="bold red" if value < 0 else "dim")
                for value in 1 - ratio[s].ravel()
            ]
            table.add_row(Text(""), Text("skill", style="dim"), *skill, end_section=True)
    return table


def floor_rows(
    evaluation: dict[str, Any], split: str, comparison: Comparison
) -> list[tuple[str, list[str]]]:
    """The noise floor of a split, and the share of the way from "last value" to it.

    That share is of the systems with replicas alone, so it need not follow from the other rows;
    its 90 % range, over draws of these systems, stands in brackets.
    """
    floor = (evaluation.get("noise_floor") or {}).get("mse", {}).get(split)
    if floor is None:
        return []
    lowest = np.array(
        [[floor[str(h)][name] for name in comparison.variables] for h in comparison.horizons],
        dtype=float,
    )
    rows = [(FLOOR, [significant(x) for x in lowest.ravel() / 10.0**comparison.exponent])]
    shares = [evaluation["noise_floor"].get(kind, {}).get(split) for kind in GAINED_KEYS]
    if shares[0] is not None:
        cells = [
            percent(*(None if each is None else each[str(h)][name] for each in shares))
            for h in comparison.horizons
            for name in comparison.variables
        ]
        rows.append((GAINED, cells))
    return rows


def _floor_words(evaluation: dict[str, Any]) -> str:
    floor = evaluation.get("noise_floor") or {}
    if "conditions" not in floor:
        return ""
    return (
        "\ngained: (last value - ours) / (last value - noise floor)\n"
        f"on the {floor['conditions']} systems with replicas alone, with its 90 % range"
    )


def percent(share: float | None, low: float | None, high: float | None) -> str:
    """A share with its range, if it has one; how far below none it is does not matter."""
    if share is None:
        return "-"
    if share < -1:
        return "< -100 %"
    around = "" if low is None or high is None else f" ({100 * low:.0f} to {100 * high:.0f})"
    return f"{100 * share:.0f}{around} %"


percent_range = percent


def _skill(value: float) -> str:
    """Four decimals tell skills near 1 apart; a very negative one needs none."""
    return f"{value:.4f}" if -10 < value <= 1 else significant(value)
