"""Section "Training": validation error, terms of the loss, gradients and learning rate."""

from collections.abc import Sequence
from itertools import cycle
from typing import Literal

import numpy as np
from jaxtyping import Float

from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.numbers import finite, significant
from pgode.reports.run.data import PageContent
from pgode.training.metrics import EpochRow

NO_LOG = '<p class="lead">There is no training log.</p>'


def training_section(content: PageContent) -> str:
    """Charts of the training log, and the time it took."""
    epochs = content.data.epochs
    panels = training_figures(epochs)
    if not panels:
        return NO_LOG
    cost = "1 epoch" if len(epochs) == 1 else f"{len(epochs)} epochs"
    seconds = finite(epochs[-1].get("seconds"))
    if seconds > 0:
        cost += f" in {_duration(seconds)}, {significant(seconds / len(epochs))} s each"
    return f'<p class="lead">{cost}.</p><div class="grid">{"".join(panels)}</div>'


def training_figures(epochs: Sequence[EpochRow]) -> list[str]:
    """Validation error, the terms of the loss, their gradients, and the learning rate, over epochs.

    Terms that are zero or negative in any epoch, such as mutual information, cannot be drawn on a
    logarithmic axis and have a separate panel.
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
    panels += [_gradients(name, x, epochs) for name in _encoders(epochs)]
    if np.isfinite(rate).any():
        line = Series("learning rate", "own", rate)
        chart = Chart("Learning rate", x, [line], "epoch", "", log=False)
        panels.append(_with_legend(chart, shown=False))
    return panels


def _encoders(epochs: Sequence[EpochRow]) -> list[str]:
    """The encoders that some term of the logged losses reaches."""
    rows = [row for epoch in epochs for row in epoch.get("gradients", {}).items()]
    return list(dict.fromkeys(name for name, norms in rows if any(norms.values())))


def _gradients(encoder: str, x: Float[np.ndarray, " epochs"], epochs: Sequence[EpochRow]) -> str:
    """The norms of the gradients on one encoder, of the terms that reach it."""
    rows = [epoch.get("gradients", {}).get(encoder, {}) for epoch in epochs]
    names = dict.fromkeys(name for row in rows for name, norm in row.items() if norm > 0)
    series = [
        Series(name, f"term-{index % 8}", np.array([finite(row.get(name) or None) for row in rows]))
        for index, name in enumerate(names)
    ]
    title = f"Gradients on the {encoder} encoder"
    return _with_legend(Chart(title, x, series, "epoch", "norm", log=True), shown=True)


def _with_legend(chart: Chart, *, shown: bool) -> str:
    keys = legend([(series.name, series.kind) for series in chart.series]) if shown else ""
    return f'<div class="panel">{draw(chart)}{keys}</div>'


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{significant(seconds)} s"
    return f"{seconds / 60:.1f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"


def _column(
    epochs: Sequence[EpochRow], name: Literal["val_mse", "lr"]
) -> Float[np.ndarray, " epochs"]:
    return np.array([finite(epoch.get(name)) for epoch in epochs])


def _positive(values: Float[np.ndarray, " epochs"]) -> bool:
    known = values[np.isfinite(values)]
    return bool(len(known)) and bool((known > 0).all())
