"""Pictures of whole trajectories as in the paper: observed faint, forecast solid, truth dashed."""

from html import escape

import numpy as np
from jaxtyping import Float

from pgode.reports.base import svg
from pgode.reports.base.charts import legend
from pgode.reports.base.example import Example
from pgode.reports.base.names import labelled
from pgode.reports.run.data import ReportData, View, lines, planes
from pgode.reports.run.systems.dated import DatedAxis

WIDTH = 460.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 8.0, 8.0, 42.0
COLOURS = 10
"""Colours of the style sheet; with more objects hues are spaced by the golden angle."""


def picture_views(data: ReportData) -> list[View]:
    """Planes of positions if there are any, else every feature over time."""
    return planes(data) or lines(data)


def picture(data: ReportData, example: Example) -> str:
    """All views of one system; only the chosen one is displayed."""
    drawn = "".join(
        f'<div data-view="{index}"{" hidden" * (index > 0)}>{_draw(data, example, view)}</div>'
        for index, view in enumerate(picture_views(data))
    )
    details = [part for part in (example.period, example.parameter_text) if part]
    caption = f"<b>{escape(example.name)}</b>" + "".join(f" · {escape(part)}" for part in details)
    return f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>"


def picture_legend() -> str:
    """The three kinds of line."""
    return legend([("observed", "seen"), ("forecast", "ahead"), ("truth", "true")])


def time_axis(example: Example, low: float, high: float) -> svg.Axis:
    """The times of a system between two pixels, with dates where it has them."""
    if example.dates:
        return DatedAxis.of(example.times, example.dates, low, high)
    return svg.Axis.around(example.times, low, high, margin=0.02)


def object_style(index: int, count: int) -> str:
    """The colour of an object, as the value of the custom property the style sheet reads."""
    if count <= COLOURS:
        return f"--c:var(--o{index})"
    return f"--c:hsl({(index * 137.508) % 360:.0f} 58% var(--object-light))"


def _draw(data: ReportData, example: Example, view: View) -> str:
    bounds = example.bounds()
    height = WIDTH if view.x is not None else 0.62 * WIDTH
    low, high = LEFT, WIDTH - RIGHT
    bottom, top = height - BOTTOM, TOP
    if view.x is None:
        x_axis = time_axis(example, low, high)
        y_axis = svg.Axis(bounds[view.y, 0], bounds[view.y, 1], bottom, top)
        x_label = "" if example.dates else labelled("time", data.time_units)
    else:
        x_axis, y_axis = same_scale(bounds[view.x], bounds[view.y], (low, high), (bottom, top))
        x_label = data.label(view.x)
    parts = [svg.frame(x_axis, y_axis, x_label, data.label(view.y), grid=False)]
    corner = f'x="{svg.number(low)}" y="{svg.number(top)}"'
    size = f'width="{svg.number(high - low)}" height="{svg.number(bottom - top)}"'
    parts.append(f'<rect class="box" {corner} {size}/>')
    objects = "".join(
        _object(example, view, index, x_axis, y_axis) for index in range(example.objects)
    )
    # A nested svg clips what leaves the box and, unlike a clip path, needs no unique id.
    window = " ".join(svg.number(value) for value in (low, top, high - low, bottom - top))
    parts.append(f'<svg class="inside" {corner} {size} viewBox="{window}">{objects}</svg>')
    if view.x is None:
        now = float(x_axis.place(example.condition_times[-1:])[0])
        parts.append(svg.line(now, top, now, bottom, "mark"))
    label = f"{example.name}, {view.label}: {example.objects} objects, observed, forecast and truth"
    return (
        f'<svg class="picture" viewBox="0 0 {svg.number(WIDTH)} {svg.number(height)}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _object(example: Example, view: View, index: int, x_axis: svg.Axis, y_axis: svg.Axis) -> str:
    """Three lines of one object; forecast and truth start where the observed line ends."""

    def placed(
        states: Float[np.ndarray, "frames features"], times: Float[np.ndarray, " frames"]
    ) -> str:
        x = times if view.x is None else states[:, view.x]
        return svg.path(x_axis.place(x), y_axis.place(states[:, view.y]))

    def ring(
        state: Float[np.ndarray, "1 features"], radius: float = 4.5, kind: str = "ring"
    ) -> str:
        x = example.forecast_times[-1:] if view.x is None else state[:, view.x]
        at, height = x_axis.place(x)[0], y_axis.place(state[:, view.y])[0]
        if not (np.isfinite(at) and np.isfinite(height)):
            return ""
        centre = f'cx="{svg.number(at)}" cy="{svg.number(height)}"'
        return f'<circle class="{kind}" {centre} r="{radius}"/>'

    seen, now = example.observed[index], example.condition_times[-1:]
    later = np.concatenate([now, example.forecast_times])
    ahead = np.concatenate([seen[-1:], example.forecast[index]])
    true = np.concatenate([seen[-1:], example.truth[index]])
    known = bool(np.isfinite(true[1:]).any())
    style = f'class="object" style="{object_style(index, example.objects)}"'
    return (
        f'<g {style} data-tip="{escape(example.label(index))}">'
        f'<path class="seen" d="{placed(seen, example.condition_times)}"/>'
        + (f'<path class="true" d="{placed(true, later)}"/>{ring(true[-1:])}' if known else "")
        + f'<path class="ahead" d="{placed(ahead, later)}"/>{ring(ahead[-1:], 3.2, "dot")}</g>'
    )


def same_scale(
    x_bounds: Float[np.ndarray, " 2"],
    y_bounds: Float[np.ndarray, " 2"],
    x_pixels: tuple[float, float],
    y_pixels: tuple[float, float],
) -> tuple[svg.Axis, svg.Axis]:
    """Axes on which a unit has the same length, so that shapes are not distorted."""
    x_size, y_size = abs(x_pixels[1] - x_pixels[0]), abs(y_pixels[1] - y_pixels[0])
    unit = max(np.ptp(x_bounds) / x_size, np.ptp(y_bounds) / y_size)
    x_half, y_half = unit * x_size / 2, unit * y_size / 2
    x_mid, y_mid = float(np.mean(x_bounds)), float(np.mean(y_bounds))
    return (
        svg.Axis(x_mid - x_half, x_mid + x_half, *x_pixels),
        svg.Axis(y_mid - y_half, y_mid + y_half, *y_pixels),
    )
