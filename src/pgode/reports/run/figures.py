"""The charts of a report: error against horizon, and the course of training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.numbers import finite, significant
from pgode.reports.run.comparison import REFERENCE, model_name, split_name

KINDS = {"last-value": "last-value", REFERENCE: "constant-velocity", "mean-value": "mean-value"}
"""Classes of the lines; the model's own is "own"."""


def error_figures(evaluation: Mapping[str, Any], variables: Sequence[str]) -> list[str]:
    """One panel per variable and split; the panels of a variable share their y axis.

    The axis is logarithmic: errors grow by orders of magnitude, and the first frames matter as
    much as the last. The band holds the middle 80 % of the systems.
    """
    curves: Mapping[str, Any] = evaluation.get("curve") or {}
    model = str(evaluation.get("model", "model"))
    splits = list(curves.get(model, {}))
    trained = max((int(horizon) for horizon in evaluation.get("horizons") or [0]), default=0)
    panels = []
    for variable in variables:
        charts = [
            _error_chart(evaluation, model, split, variable, trained)
            for split in splits
            if variable in curves[model][split]
        ]
        extent = np.concatenate([chart.extents() for chart in charts]) if charts else None
        for chart in charts:
            panels.append(draw(replace(chart, extent=extent)))
    return panels


def error_legend(evaluation: Mapping[str, Any]) -> str:
    """What the lines and the band of the error panels are."""
    model = str(evaluation.get("model", "model"))
    entries = [(model_name(model), "own")]
    if evaluation.get("curve_low") and evaluation.get("curve_high"):
        entries.append(("10 to 90 % of systems", "band"))
    others = (name for name in evaluation.get("curve") or {} if name != model)
    entries += [(model_name(name), KINDS.get(name, "other")) for name in others]
    return legend(entries)


def training_figures(epochs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Validation error, the terms of the loss, and the learning rate, over epochs.

    Terms that are ever zero or negative (mutual information, say) cannot stand on a logarithmic
    axis and get a panel of their own.
    """
    if not epochs:
        return []
    x = np.array([finite(epoch.get("epoch", index + 1)) for index, epoch in enumerate(epochs)])
    validation = _column(epochs, "val_mse")
    rate = _column(epochs, "lr")
    names = list(dict.fromkeys(name for epoch in epochs for name in epoch.get("train") or {}))
    terms = {
        name: np.array([finite((e.get("train") or {}).get(name)) for e in epochs]) for name in names
    }
    positive = {name: values for name, values in terms.items() if _positive(values)}
    signed = {
        name: values
        for name, values in terms.items()
        if name not in positive and np.isfinite(values).any()
    }
    panels = []
    if np.isfinite(validation).any():
        best = int(np.nanargmin(validation))
        mark = (x[best], f"best: {significant(validation[best])} in epoch {x[best]:.0f}")
        own = Series("validation error", "own", validation)
        chart = Chart("Validation", x, [own], "epoch", "mean squared error", marks=[mark])
        panels.append(_with_legend(chart, shown=False))
    for title, group, log in (
        ("Training loss and its terms", positive, True),
        ("Terms of either sign", signed, False),
    ):
        kinds = cycle(f"term-{index}" for index in range(8))
        series = [Series(name, next(kinds), values) for name, values in group.items()]
        if series:
            panels.append(_with_legend(Chart(title, x, series, "epoch", "loss", log), shown=True))
    if np.isfinite(rate).any():
        line = Series("learning rate", "own", rate)
        chart = Chart("Learning rate", x, [line], "epoch", "", log=False)
        panels.append(_with_legend(chart, shown=False))
    return panels


def _error_chart(
    evaluation: Mapping[str, Any], model: str, split: str, variable: str, trained: int
) -> Chart:
    curves = evaluation["curve"]
    names = [model, *(name for name in curves if name != model)]
    found = {name: _curve(curves[name], split, variable) for name in names}
    frames = len(found[model])
    series = [
        Series(model_name(name), "own" if name == model else KINDS.get(name, "other"), values)
        for name, values in found.items()
        if len(values) == frames
    ]
    low = _curve(evaluation.get("curve_low") or {}, split, variable)
    high = _curve(evaluation.get("curve_high") or {}, split, variable)
    band = ("10 to 90 % of systems", low, high) if len(low) == len(high) == frames else None
    marks = [(float(trained), f"trained up to {trained}")] if 0 < trained < frames else []
    return Chart(
        f"{variable}, {split_name(split)}",
        np.arange(1.0, frames + 1),
        series,
        "frames ahead",
        "mean squared error",
        band=band,
        marks=marks,
    )


def _with_legend(chart: Chart, *, shown: bool) -> str:
    keys = legend([(series.name, series.kind) for series in chart.series]) if shown else ""
    return f'<div class="panel">{draw(chart)}{keys}</div>'


def _curve(table: Mapping[str, Any], split: str, variable: str) -> Float[np.ndarray, " frames"]:
    values = (table.get(split) or {}).get(variable) or []
    return np.array([finite(value) for value in values])


def _column(epochs: Sequence[Mapping[str, Any]], name: str) -> Float[np.ndarray, " epochs"]:
    return np.array([finite(epoch.get(name)) for epoch in epochs])


def _positive(values: Float[np.ndarray, " epochs"]) -> bool:
    known = values[np.isfinite(values)]
    return bool(len(known)) and bool((known > 0).all())
