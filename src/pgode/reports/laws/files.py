"""Laws as files: a table (CSV), a picture (SVG), plain JSON."""

import csv
import io
import math
from typing import Any

from pgode.evaluation.laws import words
from pgode.evaluation.laws.reading import LawReading, LawsReading
from pgode.reports.base import svg
from pgode.reports.laws.picture import HEIGHT, LEGEND, WIDTH, law_panel

COLUMNS = ("receiver", "sender", "distance", "force", "deviation", "closed_form", "seen")
GAP = 24.0
STYLE = """
text { font-family: "DejaVu Sans", "Noto Sans", sans-serif; }
.tick { font-size: 11px; fill: #5b6675; } .axis { font-size: 12px; fill: #5b6675; }
.title { font-size: 13px; font-weight: 600; fill: #1c2430; }
.start { text-anchor: start; } .mid { text-anchor: middle; } .end { text-anchor: end; }
.rule { stroke: #e4e8ed; fill: none; }
.line { fill: none; stroke-linejoin: round; }
.own { stroke: #1a5fb4; stroke-width: 2.2; }
.form { stroke: #c4701c; stroke-width: 1.8; stroke-dasharray: 6 4; }
.band { fill: #1a5fb4; fill-opacity: .2; }
.range { fill: #d9dee5; fill-opacity: .45; }
"""
"""The colours of the report on white, since a picture alone has no style sheet."""


def laws_csv(reading: LawsReading) -> str:
    """A row for each law and distance, also beyond those seen; no closed form is an empty cell."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for law in reading.laws:
        table = zip(law.distance, law.force, law.deviation, law.form, law.seen, strict=True)
        for *values, seen in table:
            cells = [f"{value:.9g}" if math.isfinite(value) else "" for value in values]
            rows.writerow([law.receiver, law.sender, *cells, int(seen)])
    return text.getvalue()


def laws_svg(reading: LawsReading) -> str:
    """All laws in one picture, two in a row."""
    columns = min(len(reading.laws), 2)
    rows = math.ceil(len(reading.laws) / columns)
    panels = []
    for number, law in enumerate(reading.laws):
        x = GAP + (number % columns) * (WIDTH + GAP)
        y = GAP + (number // columns) * (HEIGHT + GAP)
        content = law_panel(law, reading.length_units, reading.force_units)
        panels.append(f'<g transform="translate({svg.number(x)} {svg.number(y)})">{content}</g>')
    below = GAP + rows * (HEIGHT + GAP)
    width, height = svg.number(columns * (WIDTH + GAP) + GAP), svg.number(below + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><style>{STYLE}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{"".join(panels)}'
        f"{_legend(GAP + 10, below)}</svg>\n"
    )


def laws_json(reading: LawsReading, run: str) -> dict[str, Any]:
    """Everything but the tables."""
    return {
        "run": run,
        "units": {
            "distance": reading.length_units,
            "force": reading.force_units,
            "time": reading.time_units,
        },
        "laws": [_law_json(law, reading.length_units) for law in reading.laws],
        "drag": {str(k): rate for k, rate in reading.drag.items()},
        "shares": list(reading.shares),
        "findings": list(reading.findings),
        "adjusted_rand_index": reading.agreement,
    }


def _law_json(law: LawReading, units: str) -> dict[str, Any]:
    fit = law.fit
    parameters = (
        []
        if fit is None
        else zip(fit.form.parameters, fit.values.tolist(), fit.errors.tolist(), strict=True)
    )
    return {
        "receiver": law.receiver,
        "sender": law.sender,
        "mutual": law.mutual,
        "kind": words.kind(law),
        "nearest": law.nearest,
        "farthest": law.farthest,
        "sign_changes": list(law.crossings),
        "form": None
        if fit is None
        else {
            "name": fit.form.name,
            "text": fit.form.text,
            "parameters": {
                name: {"value": value, "error": error if math.isfinite(error) else None}
                for name, value, error in parameters
            },
            "deviation": fit.deviation,
            "fits": fit.fits,
            "range": law.fitted,
        },
        "sentence": words.sentence(law, units),
    }


def _legend(x: float, y: float) -> str:
    parts = []
    for name, kind in LEGEND:
        if kind in ("band", "range"):
            parts.append(f'<rect class="{kind}" x="{x:g}" y="{y - 9:g}" width="26" height="9"/>')
        else:
            parts.append(f'<path class="line {kind}" d="M{x:g} {y - 4:g}h26"/>')
        parts.append(svg.text(x + 32, y, name, "tick start"))
        x += 50 + 6.4 * len(name)
    return "".join(parts)
