"""Section "Error against horizon": mean squared error at each forecast frame."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from pgode.evaluation.evaluation import Curves, Evaluation
from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.names import line_class, model_name, split_name
from pgode.reports.base.numbers import finite
from pgode.reports.base.page import folded
from pgode.reports.run.data import PageContent

BAND = "10 to 90 % of {}"
PANELS = 8
"""Panels shown at once; data with many variables fold the others away."""


def error_section(content: PageContent) -> str:
    """Error curves with their legend; empty if the evaluation has none."""
    panels = error_figures(content.evaluation, content.variables)
    if not panels:
        return ""
    shown, rest = "".join(panels[:PANELS]), "".join(panels[PANELS:])
    more = folded("More variables", f'<div class="grid">{rest}</div>') if rest else ""
    return (
        '<p class="lead">Mean squared error at each single forecast frame, in scaled units. '
        "The axis is logarithmic. Point at a curve to read its values.</p>"
        f'{error_legend(content.evaluation)}<div class="grid">{shown}</div>{more}'
    )


def error_figures(evaluation: Evaluation, variables: Sequence[str]) -> list[str]:
    """One panel per variable and split; the panels of a variable share their y axis.

    The axis is logarithmic: errors grow by orders of magnitude, and the first frames matter as
    much as the last. The band holds the middle 80 % of the systems.
    """
    own = evaluation.curves.get(evaluation.model, {})
    panels = []
    for variable in variables:
        charts = [
            _error_chart(evaluation, split, variable)
            for split, curves in own.items()
            if variable in curves
        ]
        extent = np.concatenate([chart.extents() for chart in charts]) if charts else None
        panels += [draw(replace(chart, extent=extent)) for chart in charts]
    return panels


def error_legend(evaluation: Evaluation) -> str:
    """Names of the lines and of the band of the error panels."""
    entries = [(model_name(evaluation.model), "own")]
    if evaluation.curve_low and evaluation.curve_high:
        entries.append((_band(evaluation), "band"))
    others = (name for name in evaluation.curves if name != evaluation.model)
    return legend([*entries, *((model_name(name), line_class(name)) for name in others)])


def _error_chart(evaluation: Evaluation, split: str, variable: str) -> Chart:
    own = _curve(evaluation.curves[evaluation.model], split, variable)
    naive = {
        name: _curve(curves, split, variable)
        for name, curves in evaluation.curves.items()
        if name != evaluation.model
    }
    series = [Series(model_name(evaluation.model), "own", own)]
    series += [
        Series(model_name(name), line_class(name), values)
        for name, values in naive.items()
        if len(values)
    ]
    low = _curve(evaluation.curve_low, split, variable)
    high = _curve(evaluation.curve_high, split, variable)
    return Chart(
        f"{variable}, {split_name(split)}",
        np.arange(1.0, len(own) + 1),
        series,
        "frames ahead",
        "mean squared error",
        band=(_band(evaluation), low, high) if len(low) and len(high) else None,
    )


def _band(evaluation: Evaluation) -> str:
    return BAND.format("systems" if evaluation.origins == "first" else "windows")


def _curve(curves: Curves, split: str, variable: str) -> Float[np.ndarray, " frames"]:
    return np.array([finite(value) for value in curves.get(split, {}).get(variable, [])])
