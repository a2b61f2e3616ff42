"""The head of a report: what the model reached, beside models that learn nothing."""

import math
from collections.abc import Sequence
from html import escape

from pgode.reports.base.numbers import power_of_ten, significant
from pgode.reports.run.comparison import (
    Comparison,
    Verdict,
    against,
    compare,
    model_name,
    split_name,
    verdicts,
)
from pgode.reports.run.data import ReportData
from pgode.reports.run.tables import error_html, facts_html, per_feature

TILES = 3
"""Variables with a large number of their own in each split."""


def headline(data: ReportData, variables: Sequence[str]) -> str:
    """Large numbers, plain words, the whole table, and the facts of the run."""
    comparison = compare(data.evaluation, variables)
    if not comparison.errors.size:
        return facts_html(data.summary) + '<p class="lead">There are no errors to report.</p>'
    caption = "Mean squared error over all objects and the frames up to each horizon"
    parts = [tiles(comparison), verdict_list(verdicts(comparison)), error_html(comparison, caption)]
    parts.append(
        '<p class="note">All errors are of scaled values. The lowest of each column is bold. '
        f"A ratio below 1 is better than {model_name(comparison.reference)}, above 1 worse.</p>"
    )
    single = per_feature(data.evaluation, data.features)
    if single is not None:
        table = error_html(single, "Mean squared error of each feature")
        parts.append(f"<details><summary>Each feature by itself</summary>{table}</details>")
    longer = compare(data.evaluation, variables, part="long")
    if longer.errors.size:
        parts.append("<h3>Beyond the trained horizon</h3>")
        parts.append(error_html(longer, caption))
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
            note = (
                "" if ratio is None else f"<p>{escape(against(factor, comparison.reference))}</p>"
            )
            items.append(
                f'<div class="tile {kind}"><h3>{escape(variable)}, {escape(split_name(split))}</h3>'
                f'<p class="big">{_large(error)}</p>{note}</div>'
            )
    horizon = comparison.horizons[-1]
    return (
        f'<p class="over">Mean squared error over {horizon} frames</p>'
        f'<div class="tiles">{"".join(items)}</div>'
    )


def verdict_list(found: Sequence[Verdict]) -> str:
    """Sentences as a list; warnings are marked by a word too, not by colour alone."""
    items = "".join(
        f'<li class="{"good" if verdict.good else "bad"}">'
        f"{'' if verdict.good else '<b>Note:</b> '}{escape(verdict.words)}</li>"
        for verdict in found
    )
    return f'<ul class="verdicts">{items}</ul>' if items else ""


def _large(error: float) -> str:
    """Three digits and a power of ten."""
    if not math.isfinite(error) or error == 0:
        return significant(error)
    exponent = math.floor(math.log10(error))
    if -3 < exponent < 4:
        return significant(error)
    return f"{error / 10.0**exponent:.2f}<small> × {power_of_ten(exponent)}</small>"
