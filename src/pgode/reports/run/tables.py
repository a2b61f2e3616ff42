"""Tables of the page: errors, intervals, physics, ranges. All text in them is escaped."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from pgode.reports.base.numbers import finite, in_units, percent, significant
from pgode.reports.run.comparison import (
    TOLERANCE,
    Comparison,
    compare,
    model_name,
    reported_variables,
    split_name,
)


def error_html(comparison: Comparison, caption: str) -> str:
    """Errors by split, model, horizon and variable; below each split the ratio to a naive model."""
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
        if ratio is not None:
            cells = [
                f'<td class="{"bad" if value > 1 else ""}">{significant(value)}</td>'
                for value in ratio[s].ravel()
            ]
            rows.append(("ratio", f"ratio to {model_name(comparison.reference)}", cells))
        bodies.append(_group(split_name(split).capitalize(), rows))
    return table_html(
        f"{caption}{in_units(comparison.exponent)}",
        _grid_head(comparison.horizons, comparison.variables),
        bodies,
    )


def intervals_html(evaluation: Mapping[str, Any], variables: Sequence[str]) -> str:
    """Share of the truth inside the forecast intervals, beside the share there should be; CRPS."""
    coverage: Mapping[str, Any] = evaluation.get("coverage") or {}
    crps: Mapping[str, Any] = evaluation.get("crps") or {}
    levels = sorted(coverage, key=float)
    splits = list(dict.fromkeys([*crps, *(split for level in levels for split in coverage[level])]))
    if not splits:
        return ""
    parts = [*(f"{level} % interval" for level in levels), *(["CRPS"] if crps else [])]
    head = "".join(f'<th scope="col">{escape(part)}</th>' for _ in variables for part in parts)
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(parts)}">{escape(name)}</th>' for name in variables
    )
    first = '<th scope="col" rowspan="2">frames</th>'
    rows = []
    for split in splits:
        tables = [*(coverage[level].get(split, {}) for level in levels), crps.get(split, {})]
        horizons = sorted({int(key) for table in tables for key in table})
        body = []
        for horizon in horizons:
            cells = []
            for name in variables:
                for level in levels:
                    found = coverage[level].get(split, {}).get(str(horizon), {}).get(name)
                    cells.append(_covered(finite(found), float(level) / 100))
                if crps:
                    score = crps.get(split, {}).get(str(horizon), {}).get(name)
                    cells.append(f"<td>{significant(finite(score))}</td>")
            body.append(("", str(horizon), cells))
        rows.append(_group(split_name(split).capitalize(), body))
    named = " and ".join(f"{level} %" for level in levels)
    shares = [f"Share of true values found inside the {named} intervals"] if levels else []
    caption = ", and ".join(shares + (["CRPS (scaled values)"] if crps else []))
    return table_html(caption, f"<tr>{first}{groups}</tr><tr>{head}</tr>", rows)


def energy_html(evaluation: Mapping[str, Any]) -> str:
    """Relative drift of the energy along the forecast, and along the truth."""
    drift: Mapping[str, Any] = evaluation.get("energy_drift") or {}
    rows = [
        f'<tr><th scope="row">{escape(split_name(split))}</th>'
        f"<td>{significant(finite(found.get('forecast')))}</td>"
        f"<td>{significant(finite(found.get('truth')))}</td></tr>"
        for split, found in drift.items()
    ]
    if not rows:
        return ""
    head = (
        '<tr><th scope="col">split</th><th scope="col">forecast</th><th scope="col">truth</th></tr>'
    )
    return table_html(
        "Energy drift |E(t) − E(0)| / |E(0)| since the last observed frame",
        head,
        [f'<tbody class="plain">{"".join(rows)}</tbody>'],
    )


def facts_html(rows: Sequence[tuple[str, str]], *, whole: bool = False) -> str:
    """Labels and values in a list; long hashes are cut, with the rest on hover, unless `whole`."""
    items = "".join(
        f"<div><dt>{escape(label)}</dt>{_value(value, whole)}</div>" for label, value in rows
    )
    return f'<dl class="facts">{items}</dl>' if items else ""


def ranges_html(parameters: Mapping[str, Any], caption: str) -> str:
    """Whatever is known of the parameters: one row each, one column per kind of range."""
    if not parameters:
        return ""
    by_kind = all(isinstance(value, Mapping) for value in parameters.values())
    columns = (
        list(dict.fromkeys(key for value in parameters.values() for key in value))
        if by_kind
        else []
    )
    rows = []
    for name, value in parameters.items():
        cells = [value.get(column, "") for column in columns] if by_kind else [value]
        shown = "".join(f"<td>{escape(_range_words(cell))}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(str(name))}</th>{shown}</tr>')
    titles = "".join(
        f'<th scope="col">{escape(str(column))}</th>' for column in columns or ["value"]
    )
    return table_html(
        caption,
        f'<tr><th scope="col"></th>{titles}</tr>',
        [f'<tbody class="plain">{"".join(rows)}</tbody>'],
    )


def per_feature(evaluation: dict[str, Any], features: Sequence[str]) -> Comparison | None:
    """The grid per single feature; None where that adds nothing to the variables."""
    if tuple(features) == reported_variables(evaluation):
        return None
    comparison = compare(evaluation, features)
    return comparison if np.isfinite(comparison.errors[0]).any() else None


def _value(value: str, whole: bool) -> str:
    if not re.fullmatch("[0-9a-f]{32,}", value):
        return f"<dd>{escape(value)}</dd>"
    if whole:
        return f"<dd><code>{value}</code></dd>"
    return f'<dd data-tip="{value}"><code>{value[:12]}…</code></dd>'


def _covered(found: float, nominal: float) -> str:
    """A cell with the share found and a bar on which the nominal share is marked."""
    if not np.isfinite(found):
        return "<td>–</td>"
    off = found - nominal
    kind, words = (
        ("bad", "too narrow")
        if off < -TOLERANCE
        else ("", "wide" if off > TOLERANCE else "about right")
    )
    style = f"--found:{100 * min(max(found, 0), 1):.0f}%;--nominal:{100 * nominal:.0f}%"
    tip = f"expected {percent(nominal)}, found {percent(found)}: {words}"
    return (
        f'<td class="{kind}" data-tip="{tip}">'
        f'{percent(found)}<span class="meter" style="{style}" aria-hidden="true"></span></td>'
    )


def _range_words(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        return " – ".join(_range_words(end) for end in value)
    if isinstance(value, float | int) and not isinstance(value, bool):
        return f"{value:.4g}"
    return str(value)


def _group(title: str, rows: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """A body of rows under a line with its title; a row is (class, name, cells)."""
    width = 1 + max(len(cells) for _, _, cells in rows)
    lines = [
        f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'
        for kind, name, cells in rows
    ]
    first = f'<tr><th scope="rowgroup" colspan="{width}">{escape(title)}</th></tr>'
    return f"<tbody>{first}{''.join(lines)}</tbody>"


def _grid_head(horizons: Sequence[int], variables: Sequence[str]) -> str:
    blank = '<td rowspan="2"></td>'
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(variables)}">{horizon} frames</th>'
        for horizon in horizons
    )
    names = "".join(f'<th scope="col">{escape(name)}</th>' for _ in horizons for name in variables)
    return f"<tr>{blank}{groups}</tr><tr>{names}</tr>"


def table_html(caption: str, head: str, bodies: Sequence[str]) -> str:
    """A table from its rows as HTML."""
    # A wide table scrolls in its own box; the box takes the focus, so that arrow keys can move it.
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table><caption>{escape(caption)}</caption><thead>{head}</thead>{''.join(bodies)}</table></div>"
    )
