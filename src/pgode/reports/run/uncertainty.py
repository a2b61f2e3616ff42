"""Section "Uncertainty": coverage of the forecast intervals, and CRPS."""

import math
from collections.abc import Sequence
from html import escape

from pgode.evaluation.evaluation import Evaluation, ScoreTable
from pgode.reports.base.names import split_name
from pgode.reports.base.numbers import MISSING, finite, percent, significant
from pgode.reports.base.tables import column_groups, row_group, table_html
from pgode.reports.base.verdicts import Verdict, verdict_list
from pgode.reports.run.data import PageContent

TOLERANCE = 0.1
"""Difference between measured and nominal coverage that is reported as a deviation."""
_COVERAGE = "coverage_"


def uncertainty_section(content: PageContent) -> str:
    """Conclusions and a table; empty if no probabilistic score was computed."""
    evaluation, variables = content.evaluation, content.variables
    table = intervals_html(evaluation, variables)
    if not table:
        return ""
    samples = f" of {evaluation.samples} sampled forecasts" if evaluation.samples else ""
    lead = (
        f'<p class="lead">How well the spread{samples} matches the actual errors. The mark on each '
        "bar is the nominal coverage of the interval. CRPS compares the whole sampled distribution "
        "with the truth; lower is better, and for a single forecast it is the absolute error."
        "</p>"
    )
    return f"{lead}{verdict_list(interval_verdicts(evaluation, variables))}{table}"


def interval_verdicts(evaluation: Evaluation, variables: Sequence[str]) -> list[Verdict]:
    """Whether each interval contains its nominal share of the truth, judged by its worst cell."""
    verdicts = []
    for level, table in _coverage(evaluation).items():
        shares = [
            (
                finite(table.at(split, horizon, name)),
                f"{name} at {horizon} frames {split_name(split)}",
            )
            for split in table.splits
            for horizon in table.horizons
            for name in variables
        ]
        known = [share for share in shares if math.isfinite(share[0])]
        if not known:
            continue
        nominal = level / 100
        (low, where_low), (high, where_high) = min(known), max(known)
        if low < nominal - TOLERANCE:
            finding = f"too narrow: at worst they contain {percent(low)} of {where_low}"
        elif high > nominal + TOLERANCE:
            finding = f"wide: they contain up to {percent(high)} of {where_high}"
        else:
            finding = f"about right: they contain {percent(low)} to {percent(high)} of the truth"
        good = low >= nominal - TOLERANCE
        verdicts.append(Verdict(good, f"The {level} % intervals are {finding}."))
    return verdicts


def intervals_html(evaluation: Evaluation, variables: Sequence[str]) -> str:
    """Share of the truth inside the intervals, beside the nominal one, and CRPS."""
    coverage, crps = _coverage(evaluation), evaluation.score("crps")
    tables = [*coverage.values(), crps]
    splits = dict.fromkeys(split for table in reversed(tables) for split in table.splits)
    if not splits:
        return ""
    scored = bool(crps.splits)
    columns = [*(f"{level} % interval" for level in coverage), *(["CRPS"] if scored else [])]
    bodies = []
    for split in splits:
        rows = []
        for horizon in sorted({h for table in tables for h in table.cells.get(split, {})}):
            cells = []
            for name in variables:
                cells += [
                    _coverage_cell(finite(table.at(split, horizon, name)), level / 100)
                    for level, table in coverage.items()
                ]
                if scored:
                    cells.append(f"<td>{significant(finite(crps.at(split, horizon, name)))}</td>")
            rows.append(("", str(horizon), cells))
        bodies.append(row_group(split_name(split).capitalize(), rows))
    levels = " and ".join(f"{level} %" for level in coverage)
    parts = [f"Share of true values inside the {levels} intervals"] if coverage else []
    caption = ", and ".join(parts + (["CRPS (scaled values)"] if scored else []))
    head = column_groups('<th scope="col" rowspan="2">frames</th>', variables, columns)
    return table_html(caption, head, bodies)


def _coverage(evaluation: Evaluation) -> dict[int, ScoreTable]:
    """Tables of coverage by their nominal level in percent, narrowest interval first."""
    tables = {
        int(name.removeprefix(_COVERAGE)): table
        for name, table in evaluation.scores.items()
        if name.startswith(_COVERAGE)
    }
    return dict(sorted(tables.items()))


def _coverage_cell(share: float, nominal: float) -> str:
    """A cell with the measured coverage and a bar on which the nominal one is marked."""
    if not math.isfinite(share):
        return f"<td>{MISSING}</td>"
    off = share - nominal
    kind, finding = (
        ("bad", "too narrow")
        if off < -TOLERANCE
        else ("", "wide" if off > TOLERANCE else "about right")
    )
    style = f"--share:{100 * min(max(share, 0), 1):.0f}%;--nominal:{100 * nominal:.0f}%"
    tip = escape(f"expected {percent(nominal)}, measured {percent(share)}: {finding}")
    return (
        f'<td class="{kind}" data-tip="{tip}">'
        f'{percent(share)}<span class="meter" style="{style}" aria-hidden="true"></span></td>'
    )
