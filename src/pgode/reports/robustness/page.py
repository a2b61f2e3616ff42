"""The page of `pgode robustness`: growth curves, bounds and all numbers."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from pgode.evaluation.robustness.result import Growth, Robustness, RunRobustness
from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import finite
from pgode.reports.base.page import Section, folded, render_page
from pgode.reports.base.tables import facts_html, row_group, table_html
from pgode.reports.base.verdicts import verdict_list
from pgode.reports.robustness.rows import (
    COMPARISON_COLUMNS,
    COMPARISON_NOTE,
    comparison_rows,
    growth_rows,
    label,
    number,
    statistics_cells,
)
from pgode.reports.robustness.verdicts import verdicts
from pgode.runtime.files import write_text
from pgode.runtime.outputs import claim_output

LINE_CLASSES = ("term-1", "term-5", "term-2", "term-6", "term-3", "term-4", "term-0", "term-7")
"""Style classes of the lines, one for each run: solid and dashed in turn, so that two runs with
equal curves both stay visible."""


def write_robustness(result: Robustness, path: Path, *, overwrite: bool = False) -> None:
    """Write the page to `path`, in one step; an existing file is replaced only with `overwrite`."""
    claim_output(path, overwrite=overwrite)
    write_text(path, render_robustness(result))


def render_robustness(result: Robustness) -> str:
    """The page as the text of one HTML file."""
    numbers = escape(json.dumps(result.to_json(), ensure_ascii=False))
    return render_page(
        ", ".join(label(run) for run in result.runs),
        "pgode robustness",
        [
            Section("summary", "Summary", _summary(result)),
            Section("growth", "Growth", _growth(result)),
            Section("bounds", "Bounds", _bounds(result)),
            Section("numbers", "All numbers", folded("As JSON", f"<pre>{numbers}</pre>")),
        ],
    )


def _summary(result: Robustness) -> str:
    """Sentences, the table of comparisons where there are many, and the settings."""
    facts = [
        ("data", result.data),
        ("split", f"{split_name(result.split)}, {result.systems} systems"),
        ("perturbations", f"{result.draws} draws for each magnitude, seed {result.seed}"),
    ]
    for kind, text in (("state", "integrated state"), ("observation", "last observed frame")):
        names = ", ".join(label(run) for run in result.runs if run.perturbed == kind)
        facts += [(f"{text} perturbed", names)] if names else []
    comparisons = ""
    if rows := comparison_rows(result):
        comparisons = _grouped_table("Several prototypes beside one", COMPARISON_COLUMNS, rows)
        comparisons += f'<p class="note">{COMPARISON_NOTE}</p>'
    return f"{verdict_list(verdicts(result))}{comparisons}{facts_html(facts)}"


def _growth(result: Robustness) -> str:
    """Curves of all runs and magnitudes, and the factors in a table."""
    runs = result.runs
    classes = {run.name: LINE_CLASSES[k % len(LINE_CLASSES)] for k, run in enumerate(runs)}
    magnitudes = ", ".join(f"{magnitude:g}" for magnitude in result.magnitudes)
    head = ["run", "difference of", "magnitude", *(f"{h} frames" for h in result.horizons)]
    rows = [[label(run), *cells] for run in runs for cells in growth_rows(run, result.horizons)]
    charts = _charts(
        result, "Forecast, scaled units", [(run, run.forecast) for run in runs], classes
    ) + _charts(result, "Integrated state", [(run, run.state or ()) for run in runs], classes)
    return (
        '<p class="lead">Norm of the difference between perturbed and unperturbed, averaged over '
        f"objects and draws. Each run has one line for each magnitude ({escape(magnitudes)}) on a "
        "logarithmic axis; larger magnitudes lie higher. The chart beside it shows the growth of "
        "the smallest magnitude on a linear axis. Point at a line to read its values.</p>"
        f"{legend([(label(run), classes[run.name]) for run in runs])}"
        f'<div class="grid">{charts}</div>'
        + _grouped_table(
            "Norm of the difference divided by the magnitude", [*head, "rate per frame"], rows
        )
    )


def _charts(
    result: Robustness,
    title: str,
    growths: Sequence[tuple[RunRobustness, Sequence[Growth]]],
    classes: Mapping[str, str],
) -> str:
    """Norms of all magnitudes, and the growth of the smallest; nothing where there are no rows."""
    smallest = min(result.magnitudes)
    frames = np.arange(0.0, result.horizon + 1)
    lines = [(run, growth) for run, rows in growths for growth in rows]
    if not lines:
        return ""
    norms = [_line(run, growth, classes, 1) for run, growth in lines]
    factors = [
        _line(run, growth, classes, smallest)
        for run, growth in lines
        if growth.magnitude == smallest
    ]
    ratio = f"{title}: norm / magnitude of {smallest:g}"
    return draw(Chart(title, frames, norms, "frames ahead", "norm of difference")) + draw(
        Chart(ratio, frames, factors, "frames ahead", "growth", log=False)
    )


def _line(run: RunRobustness, growth: Growth, classes: Mapping[str, str], unit: float) -> Series:
    values = np.array([finite(value) for value in growth.norm])
    return Series(f"{label(run)}, {growth.magnitude:g}", classes[run.name], values / unit)


def _bounds(result: Robustness) -> str:
    """Every constant over systems, beside the fastest measured step."""
    rows = [row for run in result.runs for row in _bound_rows(run)]
    if not rows:
        return ""
    return (
        '<p class="lead">All per frame. L is the largest |f(Z + D) − f(Z)| / |D| over pairs of '
        "states near the unperturbed trajectory, with Z the state of all objects of a system. A "
        "difference grows at most as exp(L t). Theorem 3.1 allows exp(R t), with R² the sum over "
        "objects of (the sum over prototypes of weight × L)². With one prototype R is L times the "
        "square root of the number of objects.</p>"
    ) + _grouped_table(
        "Rates per frame",
        ["run", "", "mean weight", "largest", "mean", "variance over systems"],
        rows,
    )


def _bound_rows(run: RunRobustness) -> list[list[str]]:
    if run.lipschitz is None or run.bound is None:
        return []
    rows = [
        ["fastest measured step", "", number(run.bound.fastest_step), "", ""],
        ["L of the right-hand side", "", *statistics_cells(run.lipschitz.mixture)],
    ]
    prototypes = run.lipschitz.prototypes if len(run.lipschitz.prototypes) > 1 else ()
    for k, each in enumerate(prototypes):
        cells = statistics_cells(each.constant)
        rows.append([f"L of prototype {k}", f"{each.weight:.3f}", *cells])
    rows.append(["bound of Theorem 3.1", "", *statistics_cells(run.bound.theorem)])
    return [[label(run), *row] for row in rows]


def _grouped_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows grouped under the name of their run, which is their first cell."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head[1:])
    groups: dict[str, list[tuple[str, str, list[str]]]] = {}
    for run, name, *cells in rows:
        groups.setdefault(run, []).append(("", name, [f"<td>{escape(c)}</td>" for c in cells]))
    bodies = [row_group(run, group) for run, group in groups.items()]
    return table_html(caption, f"<tr>{titles}</tr>", bodies)
