"""The table of errors in a terminal."""

from textwrap import wrap

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.evaluation.scores.metrics import METRICS
from pgode.reports.base.comparison import Comparison, compare
from pgode.reports.base.names import KNOWN_LAW, NOISE_FLOOR, labelled, model_name
from pgode.reports.base.numbers import finite, in_units, significant
from pgode.reports.base.worst import worst_text

SMALL = 1e-3
"""Below this, in the unit of the table, the size of a floor is shown with one digit."""
BEST_NAIVE = "*"
"""Mark of the best naive model of a column."""
NAME_WIDTH = 17
"""Names of models that are longer, in characters, take two lines."""
SHARE_LABEL = "share of the achievable improvement"
"""(last value - model) / (last value - noise floor), on the systems with replicas."""


def error_table(evaluation: Evaluation, metric: str = "mse", *, units: bool = False) -> Table:
    """The table `pgode evaluate` prints: scores by split, model, horizon and variable.

    The lowest error of a column is bold, the best naive one has a mark. The skill is 1 - error /
    that of the best naive model of the column: 1 is perfect, 0 no better, below 0 worse. With
    `units` scores are in the data's own units.
    """
    share = METRICS[metric].power is None
    units = units and not share
    comparison = compare(evaluation, metric=metric, units=units)
    scale = 1.0 if share or units else 10.0**comparison.exponent
    best, ratio = comparison.best, None if share else comparison.skill_ratio
    table = _empty_table(evaluation, comparison, metric, units)
    plain = metric == "mse" and not units
    for s, split in enumerate(comparison.splits):
        for m, model in enumerate(comparison.models):
            errors = comparison.errors[m, s].ravel() / scale
            marked = (comparison.best_naive[s].ravel() == m) & (m > 0)
            cells = [
                Text(
                    _narrow(error) + (BEST_NAIVE if mark else " " * (ratio is not None)),
                    style="bold green" if lowest and not share else "",
                )
                for error, lowest, mark in zip(errors, best[m, s].ravel(), marked, strict=True)
            ]
            name = Text(_two_lines(model_name(model)), style="bold" if m == 0 else "")
            last = ratio is None and m == len(comparison.models) - 1
            table.add_row(Text(split if m == 0 else ""), name, *cells, end_section=last)
        for label, values in floor_rows(evaluation, split, comparison) if plain else ():
            shown = [Text(f"{value} ", style="dim") for value in values]
            table.add_row(Text(""), Text(label, style="dim"), *shown)
        if ratio is not None:
            skill = [
                Text(f"{_skill(value)} ", style="bold red" if value < 0 else "dim")
                for value in 1 - ratio[s].ravel()
            ]
            table.add_row(Text(""), Text("skill", style="dim"), *skill, end_section=True)
    return table


def worst_lines(evaluation: Evaluation) -> list[str]:
    """The systems and objects with the largest errors, a line for each split and kind."""
    lines = []
    for split, found in evaluation.worst.items():
        for kind, entries in (("systems", found.systems), ("objects", found.objects)):
            if entries:
                listed = ", ".join(map(worst_text, entries))
                lines.append(f"worst {kind} ({split}), error and ratio to the best naive: {listed}")
    return lines


def _two_lines(name: str) -> str:
    """A long name on two lines, since the table should fit in 80 columns."""
    return name if len(name) <= NAME_WIDTH else "\n".join(wrap(name, NAME_WIDTH))


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
    limits = "" if low is None or high is None else f" ({100 * low:z.0f} to {100 * high:z.0f})"
    return f"{100 * share:z.0f}{limits} %"


def _empty_table(evaluation: Evaluation, comparison: Comparison, metric: str, units: bool) -> Table:
    has_skill = METRICS[metric].power is not None and comparison.skill_ratio is not None
    plain = metric == "mse" and not units
    notes = ["bold: lowest"] if METRICS[metric].power is not None else []
    if has_skill:
        notes.append(f"{BEST_NAIVE} best naive model; skill: 1 - error / that of it")
    floors = _law_caption(evaluation) + _floor_caption(evaluation) if plain else ""
    table = Table(
        title=_uncut(_title(comparison, metric, units) + _where(evaluation)),
        title_justify="left",
        caption=_uncut(f"{'; '.join(notes)}{floors}{_omitted(evaluation)}"),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # narrow: three horizons of two variables fit in 80 columns
        pad_edge=False,
    )
    table.add_column("")
    table.add_column("", no_wrap=True)
    mark = " " * has_skill
    for horizon in comparison.horizons:
        for variable in comparison.variables:
            name = column_name(evaluation, variable, metric) if units else variable
            head = Text(f"{horizon}{mark}\n{name}{mark}", justify="right")
            table.add_column(head, justify="right", no_wrap=True)
    return table


def _uncut(text: str) -> Text:
    """Text that may be wider than its table."""
    return Text(text, no_wrap=True, overflow="ignore")


def _title(comparison: Comparison, metric: str, units: bool) -> str:
    name = METRICS[metric].title
    if METRICS[metric].power is None:
        return name
    if units:
        return f"{name} in the data's own units"
    return f"{name} of scaled values{in_units(comparison.exponent)}"


def column_name(evaluation: Evaluation, column: str, metric: str) -> str:
    """A column with the unit of its numbers: that of the data, squared for squared errors."""
    unit = evaluation.units.get(column, "")
    return labelled(column, f"{unit}²" if unit and METRICS[metric].power == 2 else unit)


def _where(evaluation: Evaluation) -> str:
    if evaluation.origins == "first":
        return ""
    counts = ", ".join(f"{count} of {split}" for split, count in evaluation.windows.items())
    return f"\nwindows at {evaluation.origins} origins: {counts}"


def _omitted(evaluation: Evaluation) -> str:
    return "".join(
        f"\nwithout {model_name(name)}: {reason}" for name, reason in evaluation.omitted.items()
    )


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
