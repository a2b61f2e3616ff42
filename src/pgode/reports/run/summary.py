"""Section "Summary": the errors of the model beside those of the naive models."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.comparison import Comparison, compare, ratio_text
from pgode.reports.base.names import KNOWN_LAW, labelled, model_name, split_name
from pgode.reports.base.numbers import in_units, power_of_ten, significant
from pgode.reports.base.page import folded
from pgode.reports.base.tables import column_groups, facts_html, row_group, table_html
from pgode.reports.base.verdicts import all_verdicts, verdict_list
from pgode.reports.base.worst import worst_html
from pgode.reports.run.data import PageContent

TILES = 3
"""Variables whose error is shown in large digits, for each split."""
BEST_NAIVE = "*"
CAPTION = "Mean squared error over all objects and the frames up to each horizon"


def summary_section(content: PageContent) -> str:
    """Large numbers, conclusions, the whole table, and the facts of the run."""
    data = content.data
    comparison = compare(content.evaluation, content.variables)
    if not comparison.errors.size:
        return facts_html(data.summary) + '<p class="lead">There are no errors to report.</p>'
    law = content.evaluation.known_law
    sentences = all_verdicts(content.evaluation, data.features)
    parts = [tiles(comparison), verdict_list(sentences), error_html(comparison, CAPTION, law)]
    parts.append(
        '<p class="note">Errors are in scaled units. The lowest of each column is bold, the best '
        f"naive one has a mark ({BEST_NAIVE}). The ratio is to that one: below 1 is better, above "
        f"1 worse.{_where(content.evaluation)}</p>"
    )
    single = per_feature(content.evaluation, data.features)
    if single is not None:
        table = error_html(single, "Mean squared error of each feature", law)
        parts.append(folded("Each feature separately", table))
    parts.append(own_units_html(content.evaluation, content.variables))
    parts.append(worst_html(content.evaluation))
    parts.append(f"<h3>This run</h3>{facts_html(data.summary)}" if data.summary else "")
    return "".join(parts)


def tiles(comparison: Comparison) -> str:
    """The error at the longest horizon in large digits, for each split and variable."""
    ratio = comparison.skill_ratio
    items = []
    for s, split in enumerate(comparison.splits):
        for v, variable in enumerate(comparison.variables[:TILES]):
            error = float(comparison.errors[0, s, -1, v])
            factor = math.nan if ratio is None else float(ratio[s, -1, v])
            kind = "bad" if factor > 1 or not math.isfinite(error) else "good"
            compared = escape(ratio_text(factor, comparison.naive_at(s, -1, v)))
            note = "" if ratio is None else f"<p>{compared}</p>"
            items.append(
                f'<div class="tile {kind}"><h3>{escape(variable)}, {escape(split_name(split))}</h3>'
                f'<p class="big">{_large(error)}</p>{note}</div>'
            )
    horizon = comparison.horizons[-1]
    return (
        f'<p class="over">Mean squared error over {horizon} frames</p>'
        f'<div class="tiles">{"".join(items)}</div>'
    )


def error_html(
    comparison: Comparison,
    caption: str,
    law: ScoreTable | None = None,
    *,
    units: Evaluation | None = None,
) -> str:
    """Errors by split, model, horizon and variable, with the ratio to the best naive model.

    `law` has those of the known law, if there is one. `units` has the units of the columns, of
    errors in the data's own.
    """
    exponent = comparison.exponent if units is None else 0
    scale = 10.0**exponent
    ratio = comparison.skill_ratio
    bodies = []
    for s, split in enumerate(comparison.splits):
        rows = []
        for m, model in enumerate(comparison.models):
            marked = (comparison.best_naive[s].ravel() == m) & (m > 0)
            lowest = comparison.best[m, s].ravel()
            cells = [
                f"<td>{_emphasised(significant(error / scale), bold)}{BEST_NAIVE * mark}</td>"
                for error, bold, mark in zip(
                    comparison.errors[m, s].ravel(), lowest, marked.tolist(), strict=True
                )
            ]
            rows.append(("own" if m == 0 else "naive", model_name(model), cells))
        if law is not None and split in law.splits:
            errors = comparison.cells(law)[s].ravel() / scale
            cells = [f"<td>{significant(error)}</td>" for error in errors]
            rows.append(("naive", KNOWN_LAW, cells))
        if ratio is not None:
            cells = [
                f'<td class="{"bad" if value > 1 else ""}">{significant(value)}</td>'
                for value in ratio[s].ravel()
            ]
            rows.append(("ratio", "ratio to the best naive model", cells))
        bodies.append(row_group(split_name(split).capitalize(), rows))
    horizons = [f"{horizon} frames" for horizon in comparison.horizons]
    names = [
        name if units is None else labelled(name, units.units.get(name, ""))
        for name in comparison.variables
    ]
    head = column_groups('<td rowspan="2"></td>', horizons, names)
    return table_html(f"{caption}{in_units(exponent)}", head, bodies)


def per_feature(evaluation: Evaluation, features: Sequence[str]) -> Comparison | None:
    """The errors of single features; None where these are the variables themselves."""
    if tuple(features) == evaluation.variables:
        return None
    comparison = compare(evaluation, features)
    return comparison if np.isfinite(comparison.errors[0]).any() else None


def own_units_html(evaluation: Evaluation, variables: Sequence[str]) -> str:
    """The mean absolute error in the data's own units, folded; empty where it is not known."""
    columns = [name for name in variables if name in evaluation.units]
    comparison = compare(evaluation, columns, "mae", units=True)
    if not columns or not np.isfinite(comparison.errors[0]).any():
        return ""
    table = error_html(comparison, "Mean absolute error in the data's own units", units=evaluation)
    return folded("In the data's own units", table)


def _emphasised(text: str, bold: bool) -> str:
    return f"<strong>{text}</strong>" if bold else text


def _where(evaluation: Evaluation) -> str:
    """Where the windows start, if not at first frames; and which naive models are missing."""
    text = ""
    if evaluation.origins != "first":
        counts = ", ".join(f"{n} {split_name(s)}" for s, n in evaluation.windows.items())
        text = f" Windows start at {evaluation.origins} origins: {counts}."
    for name, reason in evaluation.omitted.items():
        text += f" Without {model_name(name)}: {reason}."
    return escape(text)


def _large(error: float) -> str:
    """Three digits and a power of ten."""
    if not math.isfinite(error) or error == 0:
        return significant(error)
    exponent = math.floor(math.log10(error))
    if -3 < exponent < 4:
        return significant(error)
    return f"{error / 10.0**exponent:.2f}<small> × {power_of_ten(exponent)}</small>"
