"""The page of `pgode compare`: errors of all runs, their curves, and ranges of differences."""

import json
from html import escape
from pathlib import Path

import numpy as np

from pgode.evaluation.paired.result import RunComparison
from pgode.evaluation.scores.metrics import METRICS
from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import finite, significant
from pgode.reports.base.page import Section, folded, render_page
from pgode.reports.base.tables import column_groups, row_group, table_html
from pgode.reports.base.verdicts import Verdict, verdict_list
from pgode.reports.paired.rows import ComparedRows, how, title
from pgode.runtime.files import write_text
from pgode.runtime.outputs import claim_output

LINES = ("own", *(f"term-{k}" for k in (5, 3, 2, 4, 6, 7, 0)))
"""Style classes of the lines, one for each run."""


def write_comparison(result: RunComparison, path: Path, *, overwrite: bool = False) -> None:
    """Write the page to `path`, in one step; an existing file is replaced only with `overwrite`."""
    claim_output(path, overwrite=overwrite)
    write_text(path, render_comparison(result))


def render_comparison(result: RunComparison) -> str:
    """The page as the text of one HTML file."""
    numbers = escape(json.dumps(result.to_json(), ensure_ascii=False))
    return render_page(
        ", ".join(result.runs),
        "pgode comparison of runs",
        [
            Section("summary", "Summary", _summary(result)),
            Section("error", "Error against horizon", _curves(result)),
            Section("differences", "Differences", _differences(result)),
            Section("numbers", "All numbers", folded("As JSON", f"<pre>{numbers}</pre>")),
        ],
    )


def _summary(result: RunComparison) -> str:
    last = max(result.horizons)
    sentences = [
        Verdict(not each.clear or each.change < 0, each.text)
        for each in result.differences
        if each.horizon == last
    ]
    rows = ComparedRows.of(result)
    lowest = np.where(np.isfinite(rows.errors), rows.errors, np.inf).min(axis=0)
    lines = []
    for k, name in enumerate(rows.names):
        texts = [
            f"<strong>{significant(error)}</strong>" if error == best else significant(error)
            for error, best in zip(rows.errors[k], lowest, strict=True)
        ]
        kind = "naive" if k == len(rows.names) - 1 else "own" if k == 0 else ""
        lines.append((kind, name, [f"<td>{text}</td>" for text in texts]))
    models = [f"<td>{escape(name)}</td>" for name in rows.naive]
    lines.append(("ratio", "which one", models))
    head = column_groups(
        '<td rowspan="2"></td>', [f"{h} frames" for h in result.horizons], result.columns
    )
    bodies = [row_group(split_name(result.split).capitalize(), lines)]
    missing = "".join(f" Without {name}: {why}." for name, why in result.omitted.items())
    return (
        f"{verdict_list(sentences)}{table_html(title(result, rows.exponent), head, bodies)}"
        f'<p class="note">{escape(how(result) + "." + missing)}</p>'
    )


def _curves(result: RunComparison) -> str:
    classes = {name: LINES[k % len(LINES)] for k, name in enumerate(result.runs)}
    charts = []
    for column in result.columns:
        series = [
            Series(name, classes[name], np.array([finite(v) for v in result.curves[name][column]]))
            for name in result.runs
        ]
        x = np.arange(1.0, len(series[0].values) + 1)
        label = METRICS[result.metric].title.lower()
        charts.append(draw(Chart(column, x, series, "frames ahead", label)))
    names = legend([(name, classes[name]) for name in result.runs])
    return (
        '<p class="lead">Error at each single forecast frame, in scaled units. The axis is '
        "logarithmic. Point at a curve to read its values.</p>"
        f'{names}<div class="grid">{"".join(charts)}</div>'
    )


def _differences(result: RunComparison) -> str:
    bodies = []
    for run in result.runs[1:]:
        rows = [
            (
                "",
                f"{each.column} at {each.horizon} frames",
                [
                    f"<td>{100 * each.change:+.3g} %</td>"
                    f"<td>{100 * each.low:+.3g} to {100 * each.high:+.3g}</td>"
                    f"<td>{'yes' if each.clear else 'no'}</td>"
                ],
            )
            for each in result.differences
            if each.run == run
        ]
        if rows:
            bodies.append(row_group(f"{run} against {result.runs[0]}", rows))
    if not bodies:
        return ""
    heads = ("", "difference", "90 % range", "clear")
    head = "<tr>" + "".join(f'<th scope="col">{each}</th>' for each in heads) + "</tr>"
    return table_html("Relative difference of errors; below 0 is lower", head, bodies)
