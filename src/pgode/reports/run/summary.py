"""Section "Summary": the errors of the model beside those of the naive models."""

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.comparison import Comparison, compare, ratio_text
from pgode.reports.base.names import KNOWN_LAW, model_name, split_name
from pgode.reports.base.numbers import in_units, power_of_ten, significant
from pgode.reports.base.page import folded
from pgode.reports.base.tables import column_groups, facts_html, row_group, table_html
from pgode.reports.base.verdicts import law_verdicts, verdict_list, verdicts
from pgode.reports.run.data import PageContent

TILES = 3
"""Variables whose error is shown in large digits, for each split."""
CAPTION = "Mean squared error over all objects and the frames up to each horizon"


def summary_section(content: PageContent) -> str:
    """Large numbers, conclusions, the whole table, and the facts of the run."""
    data = content.data
    comparison = compare(content.evaluation, content.variables)
    if not comparison.errors.size:
        return facts_html(data.summary) + '<p class="lead">There are no errors to report.</p>'
    law = content.evaluation.known_law
    sentences = [*verdicts(comparison), *law_verdicts(comparison, law)]
    parts = [tiles(comparison), verdict_list(sentences), error_html(comparison, CAPTION, law)]
    parts.append(
        '<p class="note">Errors are in scaled units. The lowest of each column is bold. '
        f"A ratio below 1 is better than {model_name(comparison.reference)}, above 1 worse.</p>"
    )
    single = per_feature(content.evaluation, data.features)
    if single is not None:
        table = error_html(single, "Mean squared error of each feature", law)
        parts.append(folded("Each feature separately", table))
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
            compared = escape(ratio_text(factor, comparison.reference))
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


def error_html(comparison: Comparison, caption: str, law: ScoreTable | None = None) -> str:
    """Errors by split, model, horizon and variable, with the ratio to the reference.

    `law` has those of the known law, if there is one.
    """
    scale = 10.0**comparison.exponent
    ratio = comparison.skill_ratio
    bodies = []
    for s, split in enumerate(comparison.splits):
        rows = []
        for m, model in enumerate(comparison.models):
            pairs = zip(comparison.errors[m, s].ravel(), comparison.best[m, s].ravel(), strict=True)
            cells = [
                f"<td><strong>{significant(error / scale)}</strong></td>"
                if lowest
                else f"<td>{significant(error / scale)}</td>"
                for error, lowest in pairs
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
            rows.append(("ratio", f"ratio to {model_name(comparison.reference)}", cells))
        bodies.append(row_group(split_name(split).capitalize(), rows))
    horizons = [f"{horizon} frames" for horizon in comparison.horizons]
    head = column_groups('<td rowspan="2"></td>', horizons, comparison.variables)
    return table_html(f"{caption}{in_units(comparison.exponent)}", head, bodies)


def per_feature(evaluation: Evaluation, features: Sequence[str]) -> Comparison | None:
    """The errors of single features; None where these are the variables themselves."""
    if tuple(features) == evaluation.variables:
        return None
    comparison = compare(evaluation, features)
    return comparison if np.isfinite(comparison.errors[0]).any() else None


def _large(error: float) -> str:
    """Three digits and a power of ten."""
    if not math.isfinite(error) or error == 0:
        return significant(error)
    exponent = math.floor(math.log10(error))
    if -3 < exponent < 4:
        return significant(error)
    return f"{error / 10.0**exponent:.2f}<small> × {power_of_ten(exponent)}</small>"
