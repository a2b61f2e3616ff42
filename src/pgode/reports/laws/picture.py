"""The picture of one law: force against distance, the range seen, the closed form."""

from html import escape

import numpy as np

from pgode.evaluation.laws.reading import LawReading
from pgode.evaluation.laws.words import pair, short_formula
from pgode.reports.base import svg
from pgode.reports.base.names import labelled
from pgode.reports.base.symlog import SymlogAxis

WIDTH, HEIGHT = 520.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 10.0, 40.0, 42.0
LEGEND = (
    ("law", "own"),
    ("closed form", "form"),
    ("one standard deviation", "band"),
    ("distances seen in training", "range"),
)
"""Names and classes of what a picture shows."""


def law_picture(reading: LawReading, length_units: str = "", force_units: str = "") -> str:
    """One panel as SVG; sizes of forces on a logarithmic axis where these have one sign."""
    label = f"{title(reading)}: force against distance"
    size = f"0 0 {svg.number(WIDTH)} {svg.number(HEIGHT)}"
    content = law_panel(reading, length_units, force_units)
    return (
        f'<svg class="chart law" viewBox="{size}" role="img" aria-label="{escape(label)}">'
        f"{content}</svg>"
    )


def law_panel(reading: LawReading, length_units: str, force_units: str) -> str:
    """What is inside the panel."""
    seen = reading.force[reading.seen]
    one_sign = bool((seen > 0).all() or (seen < 0).all())
    sign = -1.0 if one_sign and len(seen) and seen[0] < 0 else 1.0
    force, form = sign * reading.force, sign * reading.form
    shown = np.concatenate([force[reading.seen], form[reading.seen]])
    top, bottom = TOP, HEIGHT - BOTTOM
    y_axis = (
        svg.Axis.around(shown, bottom, top, log=True, margin=0.15)
        if one_sign
        else SymlogAxis.spanning(shown, bottom, top)
    )
    x_axis = svg.Axis.around(reading.distance, LEFT, WIDTH - RIGHT, log=True, margin=0.0)
    x = x_axis.place(reading.distance)
    name = ("attraction" if sign < 0 else "repulsion") if one_sign else "force, above 0: repulsion"
    ends = x_axis.place(np.array([reading.nearest, reading.farthest]))
    low, high = (
        y_axis.place(np.clip(force + way * reading.deviation, y_axis.low, y_axis.high))
        for way in (-1, 1)
    )
    first, second = title(reading).split(": ", 1)
    return "".join(
        [
            _box(float(ends[0]), top, float(ends[1]), bottom),
            svg.frame(
                *(x_axis, y_axis, labelled("distance", length_units)),
                *(labelled(name, force_units),),
                grid=True,
            ),
            f'<path class="band" d="{svg.band(x, low, high)}"/>',
            f'<path class="line own" d="{svg.path(x, _inside(y_axis, force))}"/>',
            f'<path class="line form" d="{svg.path(x, _inside(y_axis, form))}"/>',
            svg.text(LEFT, 14, first[:1].upper() + first[1:], "title start"),
            svg.text(LEFT, 31, second, "axis start"),
        ]
    )


def title(reading: LawReading) -> str:
    """The prototypes and the closed form."""
    fit = reading.fit
    found = "no simple form" if fit is None or not fit.fits else short_formula(fit)
    return f"{pair(reading)}: {found}"


def _inside(axis: svg.Axis, values: svg.Values) -> svg.Values:
    """Pixels of values, NaN beyond the ends of the axis."""
    known = (values >= axis.low) & (values <= axis.high)
    return axis.place(np.where(known, values, np.nan))


def _box(left: float, top: float, right: float, bottom: float) -> str:
    return (
        f'<rect class="range" x="{svg.number(left)}" y="{svg.number(top)}" '
        f'width="{svg.number(right - left)}" height="{svg.number(bottom - top)}"/>'
    )
