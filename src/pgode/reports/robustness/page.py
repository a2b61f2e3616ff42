"""The page of `pgode robustness`: one file with its style, script, curves and numbers."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import finite
from pgode.reports.base.page import Section, render_page
from pgode.reports.base.tables import facts_html
from pgode.reports.base.verdicts import verdict_list
from pgode.reports.robustness.findings import (
    COMPARED,
    COMPARED_WORDS,
    PERTURBED,
    comparison_rows,
    growth_rows,
    label,
    number,
    verdicts,
)
from pgode.runtime.files import write_text

KINDS = ("term-1", "term-5", "term-2", "term-6", "term-3", "term-4", "term-0", "term-7")
"""Classes of the lines, one for each run: solid and dashed in turn, so that of two runs that do the
same both are seen."""


def write_robustness(result: Mapping[str, Any], path: Path) -> None:
    """Write the page to `path`, in one step."""
    write_text(path, render(result))


def render(result: Mapping[str, Any]) -> str:
    """The page as the text of one HTML file."""
    runs = result["runs"]
    facts = [
        ("data", str(result["data"])),
        ("split", f"{split_name(result['split'])}, {result['systems']} systems"),
        ("perturbations", f"{result['draws']} draws for each magnitude, seed {result['seed']}"),
    ]
    for key, words in PERTURBED.items():
        names = ", ".join(label(run) for run in runs if run["perturbed"] == key)
        facts += [(f"perturbed in {words}", names)] if names else []
    pairs = ""
    if rows := comparison_rows(result):
        pairs = _table("Several prototypes beside one", COMPARED, rows)
        pairs += f'<p class="note">{COMPARED_WORDS}</p>'
    numbers = escape(json.dumps(result, ensure_ascii=False))
    sections = [
        ("summary", "Summary", f"{verdict_list(verdicts(result))}{pairs}{facts_html(facts)}"),
        ("growth", "Growth", _growth(result)),
        ("bounds", "Bounds", _bounds(result)),
        (
            "numbers",
            "All numbers",
            f"<details><summary>As JSON</summary><pre>{numbers}</pre></details>",
        ),
    ]
    title = ", ".join(label(run) for run in runs)
    return render_page(title, "pgode robustness", [Section(*each) for each in sections])


def _growth(result: Mapping[str, Any]) -> str:
    """Curves of all runs and magnitudes, and the factors in a table."""
    runs = result["runs"]
    kinds = {run["name"]: KINDS[k % len(KINDS)] for k, run in enumerate(runs)}
    charts = []
    smallest = min(result["magnitudes"])
    frames = np.arange(0.0, result["horizon"] + 1)
    for part, title in (("forecast", "Forecast, scaled units"), ("state", "Integrated state")):
        lines = [(run, row) for run in runs for row in run[part] or ()]
        norms = [_line(run, row, kinds, 1) for run, row in lines]
        grown = [
            _line(run, row, kinds, smallest) for run, row in lines if row["magnitude"] == smallest
        ]
        if lines:
            charts.append(draw(Chart(title, frames, norms, "frames ahead", "norm of difference")))
            title = f"{title}: norm / magnitude of {smallest:g}"
            charts.append(draw(Chart(title, frames, grown, "frames ahead", "growth", log=False)))
    sizes = ", ".join(f"{size:g}" for size in result["magnitudes"])
    head = ["run", "difference of", "magnitude", *(f"{h} frames" for h in result["horizons"])]
    rows = [[label(run), *cells] for run in runs for cells in growth_rows(run, result["horizons"])]
    return (
        '<p class="lead">Mean norm over objects and draws of the difference between the perturbed '
        f"and the unperturbed one. Each run has one line for each magnitude ({escape(sizes)}), the "
        "larger the higher, on a logarithmic axis; beside it the growth on an even one. Point at a "
        "line to read its values.</p>"
        f"{legend([(label(run), kinds[run['name']]) for run in runs])}"
        f'<div class="grid">{"".join(charts)}</div>'
        + _table("Norm of the difference divided by the magnitude", [*head, "rate per frame"], rows)
    )


def _line(
    run: Mapping[str, Any], row: Mapping[str, Any], kinds: Mapping[str, str], unit: float
) -> Series:
    values = np.array([finite(value) for value in row["norm"]])
    return Series(f"{label(run)}, {row['magnitude']:g}", kinds[run["name"]], values / unit)


def _bounds(result: Mapping[str, Any]) -> str:
    """Every constant over the systems, beside what was measured."""
    rows = []
    for run in result["runs"]:
        if run["lipschitz"] is None:
            continue
        found, bound = run["lipschitz"], run["bound"]
        fastest = ["fastest measured step", "", number(bound["fastest"]), "", ""]
        rows.append([label(run), *fastest])
        rows.append([label(run), "L of the right-hand side", "", *_over(found["mixture"])])
        if len(found["prototypes"]) > 1:
            for k, each in enumerate(found["prototypes"]):
                weight = f"{each['weight']:.3f}"
                rows.append([label(run), f"L of prototype {k}", weight, *_over(each)])
        rows.append([label(run), "bound of Theorem 3.1", "", *_over(bound["theorem"])])
    if not rows:
        return ""
    return (
        '<p class="lead">All per frame. L is the largest |f(Z + D) − f(Z)| / |D| found near the '
        "forecast's own states, Z the state of all objects of a system. With L a difference grows "
        "at most as exp(L t). Theorem 3.1 allows exp(R t), with R² the sum over objects of (the "
        "sum over prototypes of weight × L)². With one prototype R is L times the root of the "
        "number of objects.</p>"
    ) + _table(
        "Rates per frame",
        ["run", "", "mean weight", "largest", "mean", "variance over systems"],
        rows,
    )


def _over(found: Mapping[str, Any]) -> list[str]:
    return [number(found[word]) for word in ("largest", "mean", "variance")]


def _table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a line with the name of their run, which is their first cell."""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head[1:])
    bodies = []
    for run in dict.fromkeys(row[0] for row in rows):
        lines = "".join(
            f'<tr><th scope="row">{escape(row[1])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[2:])
            + "</tr>"
            for row in rows
            if row[0] == run
        )
        name = f'<tr><th scope="rowgroup" colspan="{len(head) - 1}">{escape(run)}</th></tr>'
        bodies.append(f"<tbody>{name}{lines}</tbody>")
    # A wide table scrolls in its own box; the box takes the focus, so that arrow keys can move it.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{titles}</tr></thead>{''.join(bodies)}"
        "</table></div>"
    )
