"""Line charts: series over frames or epochs, with a band, a legend and values on hover."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
from jaxtyping import Float

from pgode.reports.base import svg
from pgode.reports.base.numbers import short_list

WIDTH, HEIGHT = 520.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 10.0, 26.0, 42.0
AREAS = ("band", "range")
"""Classes that are drawn as an area."""
SHORT = 18.0
"""Half the length in pixels of the line that stands for a single point."""
MAX_POINTS = 500
"""Largest number of points of a line; thousands of epochs are thinned to keep the page small."""


@dataclass(frozen=True)
class Series:
    """One line. `kind` is the class that gives it its colour and dashes."""

    name: str
    kind: str
    values: Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Chart:
    """One panel; `x` counts frames or epochs, or measures time.

    `band` is (name, low, high); `marks` are (x, text) of vertical lines.
    """

    title: str
    x: Float[np.ndarray, " n"]
    series: Sequence[Series]
    x_label: str
    y_label: str
    log: bool = True
    band: tuple[str, Float[np.ndarray, " n"], Float[np.ndarray, " n"]] | None = None
    marks: Sequence[tuple[float, str]] = ()
    whole: bool = True
    """Whether `x` is a count, so that ticks are whole numbers."""
    extent: Float[np.ndarray, " m"] | None = None
    """Further values that must fit on the y axis, so that panels can share it."""

    def extents(self) -> Float[np.ndarray, " m"]:
        """Everything that must fit on the y axis."""
        parts = [series.values for series in self.series]
        parts += [] if self.band is None else [self.band[1], self.band[2]]
        parts += [] if self.extent is None else [self.extent]
        return np.concatenate(parts) if parts else np.zeros(0)

    def thinned(self) -> "Chart":
        """At most `MAX_POINTS` points, the last among them."""
        stride = -(-len(self.x) // MAX_POINTS)
        if stride <= 1:
            return self
        kept = np.arange(len(self.x) - 1, -1, -stride)[::-1]
        return replace(
            self,
            x=self.x[kept],
            series=[replace(each, values=each.values[kept]) for each in self.series],
            band=self.band and (self.band[0], self.band[1][kept], self.band[2][kept]),
            extent=self.extents(),
        )

    def doubled(self) -> "Chart":
        """Every value twice."""
        band = self.band
        if band is not None:
            band = band[0], np.repeat(band[1], 2), np.repeat(band[2], 2)
        series = [replace(each, values=np.repeat(each.values, 2)) for each in self.series]
        return replace(self, series=series, band=band)


def draw(chart: Chart) -> str:
    """The panel as SVG. Its numbers are in `data-chart`, for the tool tips."""
    chart = chart.thinned()
    x_axis = replace(svg.Axis.around(chart.x, LEFT, WIDTH - RIGHT, margin=0.0), whole=chart.whole)
    y_axis = svg.Axis.around(chart.extents(), HEIGHT - BOTTOM, TOP, log=chart.log)
    x, drawn = x_axis.place(chart.x), chart
    if len(x) == 1:  # A line of one point would be a speck: it becomes a short line.
        x, drawn = x[0] + np.array([-SHORT, SHORT]), chart.doubled()
    parts = [svg.frame(x_axis, y_axis, chart.x_label, chart.y_label, grid=True)]
    if drawn.band is not None:
        low, high = (_within(y_axis, each) for each in drawn.band[1:])
        parts.append(f'<path class="band" d="{svg.band(x, low, high)}"/>')
    for at, label in chart.marks:
        place = float(x_axis.place(np.array([at]))[0])
        parts.append(svg.line(place, TOP, place, HEIGHT - BOTTOM, "mark"))
        side = "end" if place > (LEFT + WIDTH) / 2 else "start"
        nudge = -5 if side == "end" else 5
        parts.append(svg.text(place + nudge, TOP + 11, label, f"tick {side}"))
    for series in drawn.series:  # Dashed lines are last, so that no solid line hides them.
        parts.append(
            f'<path class="line {series.kind}" d="{svg.path(x, y_axis.place(series.values))}"/>'
        )
    parts.append(svg.text(LEFT, 14, chart.title, "title start"))
    size = f"0 0 {svg.number(WIDTH)} {svg.number(HEIGHT)}"
    names = ", ".join(series.name for series in chart.series)
    label = f"{chart.title}: {names} against {chart.x_label}"
    return (
        f'<svg class="chart" viewBox="{size}" role="img" aria-label="{escape(label)}" '
        f'data-chart="{escape(_readout(chart))}">{"".join(parts)}</svg>'
    )


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Names beside a sample of their line or area; entries are (name, class), see `AREAS`."""
    items = []
    for name, kind in entries:
        shape = (
            f'<path class="{kind}" d="M1 2h26v8h-26z"/>'
            if kind in AREAS
            else f'<path class="line {kind}" d="M1 6h26"/>'
        )
        items.append(
            f'<li><svg class="key" viewBox="0 0 28 12" aria-hidden="true">{shape}</svg>'
            f"{escape(name)}</li>"
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _within(axis: svg.Axis, values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Pixels of the edge of a band; values without a logarithm are drawn at the bottom."""
    if not axis.log:
        return axis.place(values)
    return axis.place(np.where(values <= 0, axis.low, values))


def _readout(chart: Chart) -> str:
    rows = [{"name": s.name, "kind": s.kind, "y": short_list(s.values)} for s in chart.series]
    if chart.band is not None:
        name, low, high = chart.band
        rows.append({"name": name, "kind": "band", "y": short_list(low), "to": short_list(high)})
    content = {
        "x": short_list(chart.x, 6),
        "label": chart.x_label,
        "box": [LEFT, TOP, WIDTH - RIGHT, HEIGHT - BOTTOM],
        "rows": rows,
    }
    return json.dumps(content, separators=(",", ":"))
