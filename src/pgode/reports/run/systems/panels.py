"""Small multiples: a panel for each object, where one picture of all would be a tangle.

A panel of a feature over time has the condition, the forecast with its 90 % interval, and the
truth; a panel of positions has the path of one object.
"""

import warnings
from collections.abc import Sequence
from html import escape

import numpy as np
from jaxtyping import Float, Int

from pgode.reports.base import svg
from pgode.reports.base.charts import legend
from pgode.reports.base.example import Example
from pgode.reports.base.names import labelled
from pgode.reports.run.data import PageContent, ReportData, View, lines, planes, space
from pgode.reports.run.systems.columns import shown_notes, split_columns, view_choice
from pgode.reports.run.systems.pictures import picture_views, same_scale, time_axis

Bounds = Float[np.ndarray, "chosen features 2"]

TANGLE = 12
"""With more objects than this, positions have a panel for each object."""
PANELS = 12
"""Panels of a system; objects in between are left out, and the page says so."""
WIDTH, HEIGHT = 250.0, 160.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 6.0, 20.0, 34.0
INTERVAL = "90 % interval"
FEW = 2
"""Systems of so few objects lie side by side."""
REACH = 0.3
"""Part of an interval that is shown beyond what was observed, as a share of the latter's range."""
LEAST = 0.05
"""Smallest range of a panel, as a share of the largest of the same system."""
LONGEST = 30
"""Characters of a name above a panel."""


def panel_views(data: ReportData) -> list[View]:
    """The plane of two positions, then each position over time; each feature if there are none.

    Three positions have a player in three dimensions, which shows more than their planes.
    """
    flat = planes(data)
    if not flat:
        return picture_views(data)
    places = [view for view in lines(data) if data.roles[view.y] == "position"]
    return places if space(data) else [*flat[:1], *places]


def in_panels(data: ReportData, examples: Sequence[Example]) -> bool:
    """Whether objects have panels: those of data without planes, and many, but no atoms."""
    if data.molecule is not None:
        return False
    return not planes(data) or any(example.objects > TANGLE for example in examples)


def panels_section(content: PageContent) -> str:
    """Panels of the chosen objects of each included system."""
    data = content.data
    most = max((example.objects for example in content.examples), default=0)
    chosen = (
        f"Of more than {PANELS} objects those are shown whose errors are the largest, the "
        f"smallest and evenly in between; the number counts from the largest error. "
        if most > PANELS
        else ""
    )
    kinds = [("observed", "seen"), ("forecast", "ahead"), ("truth", "true")]
    keys = legend([*kinds, (INTERVAL, "band")])
    figures = [(each.split, _figure(data, each)) for each in content.examples]
    menu = view_choice(panel_views(data))
    return (
        f'<p class="lead">Each object of a system by itself. {chosen}{shown_notes(content)}</p>'
        f'<div class="bar">{keys}{menu}</div>{split_columns(figures, wide=most > FEW)}'
    )


def chosen_objects(example: Example, most: int = PANELS) -> Int[np.ndarray, " chosen"]:
    """The objects to show: all, or the worst, the best and some between, the worst first."""
    if example.objects <= most:
        return np.arange(example.objects)
    errors = example.object_errors()
    if not np.isfinite(errors).any():
        return np.arange(most)
    ranked = np.argsort(-np.nan_to_num(errors, nan=-1.0), kind="stable")
    known = ranked[: int(np.isfinite(errors).sum())]
    places = np.round(np.linspace(0, len(known) - 1, min(most, len(known)))).astype(int)
    chosen: Int[np.ndarray, " chosen"] = known[places]
    return chosen


def _figure(data: ReportData, example: Example) -> str:
    """All views of one system; only the chosen one is displayed."""
    objects = chosen_objects(example)
    parts = [(int(index), _title(example, int(index))) for index in objects]
    drawn = ""
    bounds = _bounds(example, objects)
    for number, view in enumerate(panel_views(data)):
        panels = "".join(
            _panel(data, example, view, index, title, bounds[place])
            for place, (index, title) in enumerate(parts)
        )
        hidden = " hidden" * (number > 0)
        drawn += f'<div data-view="{number}" class="panels"{hidden}>{panels}</div>'
    details = [part for part in (example.period, example.parameter_text) if part]
    left = example.objects - len(objects)
    details += [f"{len(objects)} of {example.objects} objects"] if left else []
    caption = "".join(f" · {escape(part)}" for part in details)
    return (
        f'<figure class="series"><figcaption><b>{escape(example.name)}</b>{caption}</figcaption>'
        f"{drawn}</figure>"
    )


def _title(example: Example, index: int) -> str:
    """The name of an object, with its rank by error where not all are shown."""
    name = example.label(index)
    name = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    if example.objects <= PANELS:
        return name
    errors = example.object_errors()
    if not np.isfinite(errors[index]):
        return name
    return f"{name} ({1 + int((errors > errors[index]).sum())})"


def _bounds(example: Example, objects: Int[np.ndarray, " chosen"]) -> Bounds:
    """The range of each feature of each object, and never a tiny part of that of another.

    Otherwise an object that rests would have a panel full of rounding errors.
    """
    found = np.stack([example.only(np.array([index])).bounds() for index in objects])
    reach = REACH * np.ptp(found, axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # An interval may be unknown throughout.
        ends = np.nanmin(example.lower[objects], 1), np.nanmax(example.upper[objects], 1)
    found[..., 0] = np.fmin(found[..., 0], np.fmax(ends[0], found[..., 0] - reach))
    found[..., 1] = np.fmax(found[..., 1], np.fmin(ends[1], found[..., 1] + reach))
    middle, half = found.mean(2), np.ptp(found, axis=2) / 2
    half = np.maximum(half, LEAST * half.max(0))
    return np.stack([middle - half, middle + half], axis=2)


def _panel(
    data: ReportData,
    example: Example,
    view: View,
    index: int,
    title: str,
    bounds: Float[np.ndarray, "features 2"],
) -> str:
    low, high, bottom, top = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP
    one = example.only(np.array([index]))
    if view.x is None:
        x_axis = time_axis(example, low, high)
        y_axis = svg.Axis(bounds[view.y, 0], bounds[view.y, 1], bottom, top)
        x_label = "" if example.dates else labelled("time", data.time_units)
    else:
        x_axis, y_axis = same_scale(bounds[view.x], bounds[view.y], (low, high), (bottom, top))
        x_label = data.label(view.x)

    def placed(
        states: Float[np.ndarray, "frames features"], times: Float[np.ndarray, " frames"]
    ) -> tuple[svg.Values, svg.Values]:
        x = times if view.x is None else states[:, view.x]
        return x_axis.place(x), y_axis.place(states[:, view.y])

    seen, now = one.observed[0], one.condition_times[-1:]
    later = np.concatenate([now, one.forecast_times])
    forecast, truth, lower, upper = (
        np.concatenate([seen[-1:], each[0]])
        for each in (one.forecast, one.truth, one.lower, one.upper)
    )
    inside = []
    if view.x is None and np.isfinite(upper[1:] - lower[1:]).any():
        # It opens at the last observation, so that even a forecast of one frame has an area.
        ends = [y_axis.place(each[:, view.y]) for each in (lower, upper)]
        area = svg.band(x_axis.place(later), *ends)
        inside.append(f'<path class="band" d="{area}"/>')
    inside.append(f'<path class="seen" d="{svg.path(*placed(seen, one.condition_times))}"/>')
    inside.append(f'<path class="ahead" d="{svg.path(*placed(forecast, later))}"/>')
    if np.isfinite(truth[1:]).any():
        inside.append(f'<path class="true" d="{svg.path(*placed(truth, later))}"/>')
    corner = f'x="{svg.number(low)}" y="{svg.number(top)}"'
    size = f'width="{svg.number(high - low)}" height="{svg.number(bottom - top)}"'
    window = " ".join(svg.number(value) for value in (low, top, high - low, bottom - top))
    parts = [
        svg.frame(x_axis, y_axis, x_label, data.label(view.y), grid=False),
        f'<rect class="box" {corner} {size}/>',
        f'<svg class="inside object" {corner} {size} viewBox="{window}">{"".join(inside)}</svg>',
        svg.text(low, 13, title, "title start"),
    ]
    if view.x is None:
        at = float(x_axis.place(now)[0])
        parts.append(svg.line(at, top, at, bottom, "mark"))
    label = f"{example.name}, {example.label(index)}, {view.label}: observed, forecast and truth"
    return (
        f'<svg class="panel" viewBox="0 0 {svg.number(WIDTH)} {svg.number(HEIGHT)}" role="img" '
        f'aria-label="{escape(label)}" data-tip="{escape(example.label(index))}" '
        f'style="--c:var(--own)">{"".join(parts)}</svg>'
    )
