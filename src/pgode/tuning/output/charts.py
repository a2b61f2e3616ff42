"""Charts of a search as inline SVG: points of trials, curves, shares, and a parallel view."""

from collections.abc import Sequence
from html import escape

import numpy as np
from jaxtyping import Float

from pgode.reports.base import svg
from pgode.reports.base.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from pgode.reports.base.numbers import percent, significant
from pgode.tuning.output.points import best_so_far, finite_trials, is_wide
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import Choice, Domain, short_names, shown
from pgode.tuning.trials.files import Trial

VIEW = 300.0
"""Height of the parallel view."""
SHARE_ROW = 26.0
"""Height of a row of the chart of shares."""


def error_chart(tuning: Tuning) -> str:
    """The lowest error of each trial, and the best so far."""
    trials = finite_trials(tuning)
    indices, lowest = best_so_far(tuning)
    x_axis = svg.Axis.around(indices, LEFT, WIDTH - RIGHT)
    x_axis = svg.Axis(x_axis.low, x_axis.high, x_axis.start, x_axis.stop, whole=True)
    y_axis = _error_axis(_lowest(trials), HEIGHT - BOTTOM, TOP)
    x, y = x_axis.place(indices), y_axis.place(lowest)
    # Steps: the best stays as it is until the next trial that is better.
    stairs = svg.path(np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]) if len(x) else ""
    dots = [
        _dot(float(at), float(y_axis.place(np.array([trial.error]))[0]), trial, tuning)
        for at, trial in zip(x, trials, strict=True)
    ]
    parts = [
        svg.frame(x_axis, y_axis, "trial", "lowest validation error", grid=True),
        f'<path class="line own" d="{stairs}"/>',
        *dots,
    ]
    return _picture("Validation error against trial", WIDTH, HEIGHT, parts)


def curve_chart(tuning: Tuning) -> str:
    """The error of every trial after each of its epochs; the best on top."""
    trials = sorted(finite_trials(tuning), key=lambda trial: trial is tuning.best)
    longest = max(len(_errors(trial)) for trial in trials)
    x_axis = svg.Axis.around(np.array([1.0, max(longest, 2)]), LEFT, WIDTH - RIGHT, margin=0.02)
    x_axis = svg.Axis(x_axis.low, x_axis.high, x_axis.start, x_axis.stop, whole=True)
    errors = np.concatenate([_errors(trial) for trial in trials])
    y_axis = _error_axis(errors, HEIGHT - BOTTOM, TOP)
    parts = [svg.frame(x_axis, y_axis, "epoch", "validation error", grid=True)]
    for trial in trials:
        errors = _errors(trial)
        places = x_axis.place(np.arange(1.0, len(errors) + 1)), y_axis.place(errors)
        parts.append(
            f'<path class="line {_kind(trial, tuning)}" d="{svg.path(*places)}" '
            f'data-tip="{escape(_tip(trial, tuning))}"/>'
        )
    return _picture("Validation error against epoch", WIDTH, HEIGHT, parts)


def share_chart(tuning: Tuning) -> str:
    """The importance of each setting as a bar."""
    left, height = 190.0, TOP + SHARE_ROW * len(tuning.importance) + 10
    names, parts = short_names(tuning.record.space), []
    most = max(tuning.importance.values()) or 1.0
    for row, (name, share) in enumerate(tuning.importance.items()):
        top, long = TOP + row * SHARE_ROW, max(share / most, 0.0) * (WIDTH - left - 60)
        parts += [
            svg.text(left - 8, top + 14, names[name], "axis end"),
            f'<rect class="bar-own" x="{svg.number(left)}" y="{svg.number(top)}" '
            f'width="{svg.number(max(long, 1.0))}" height="18" data-tip="{escape(name)}"/>',
            svg.text(left + long + 8, top + 14, percent(share), "tick start"),
        ]
    return _picture("Importance of settings", WIDTH, height, parts)


def parallel_chart(tuning: Tuning) -> str:
    """One line for each trial across all settings to its error; the best on top."""
    space, names = tuning.record.space, short_names(tuning.record.space)
    trials = sorted(finite_trials(tuning), key=lambda trial: -trial.error)
    step = max(110.0, 640.0 / max(len(space), 1))
    width = 100.0 + step * len(space)
    at = [50.0 + step * k for k in range(len(space) + 1)]
    top, bottom = 44.0, VIEW - 20.0
    error_axis = _error_axis(_lowest(trials), top, bottom, margin=0.0)
    parts = [svg.line(x, top, x, bottom, "rule") for x in at]
    for trial in [*trials, tuning.best]:
        places = [
            bottom - domain.position(trial.plan.values[name]) * (bottom - top)
            for name, domain in space.items()
        ]
        places.append(float(error_axis.place(np.array([trial.error]))[0]))
        line = svg.path(np.array(at), np.array(places))
        parts.append(
            f'<path class="line {_kind(trial, tuning)}" d="{line}" '
            f'data-tip="{escape(_tip(trial, tuning))}"/>'
        )
    # Last, so that no line hides them.
    for x, (name, domain) in zip(at, space.items(), strict=False):
        parts.append(svg.text(x, 14, names[name], "axis mid"))
        parts += _ends(x, domain, top, bottom)
    parts.append(svg.text(at[-1], 14, "error", "axis mid"))
    parts.append(svg.text(at[-1], 34, significant(error_axis.low), "tick mid"))
    parts.append(svg.text(at[-1], bottom + 16, significant(error_axis.high), "tick mid"))
    return _picture("Settings of every trial and its error", width, VIEW, parts)


def setting_charts(tuning: Tuning) -> list[str]:
    """The error of trials against each setting alone."""
    trials = finite_trials(tuning)
    short, charts = short_names(tuning.record.space), []
    for name, domain in tuning.record.space.items():
        y_axis = _error_axis(_lowest(trials), 190.0, 24.0)
        left, right = 58.0, 310.0
        parts = [
            svg.line(left, 190, right, 190, "rule"),
            svg.text(left, 13, short[name], "title start"),
        ]
        for value, label in y_axis.ticks(4):
            place = float(y_axis.place(np.array([value]))[0])
            parts.append(svg.line(left, place, right, place, "rule"))
            parts.append(svg.text(left - 6, place + 3, label, "tick end"))
        for share, label in _marks(domain):
            parts.append(svg.text(left + 12 + share * (right - left - 24), 206, label, "tick mid"))
        for trial in trials:
            x = left + 12 + domain.position(trial.plan.values[name]) * (right - left - 24)
            y = float(y_axis.place(np.array([trial.error]))[0])
            parts.append(_dot(x, y, trial, tuning))
        charts.append(_picture(f"Validation error against {short[name]}", 320.0, 214.0, parts))
    return charts


def _ends(x: float, domain: Domain, top: float, bottom: float) -> list[str]:
    parts = []
    for share, label in _marks(domain):
        y = bottom - share * (bottom - top)
        if isinstance(domain, Choice):
            parts.append(svg.text(x + 5, y + 3.5, label, "tick start"))
        else:
            parts.append(svg.text(x, bottom + 16 if share == 0 else 34, label, "tick mid"))
    return parts


def _marks(domain: Domain) -> list[tuple[float, str]]:
    """Places along a setting's axis that are labelled: every choice, or both ends."""
    values = domain.values if isinstance(domain, Choice) else (domain.low, domain.high)
    return [(domain.position(value), shown(value)) for value in values]


def _dot(x: float, y: float, trial: Trial, tuning: Tuning) -> str:
    return (
        f'<circle class="{_kind(trial, tuning)}" cx="{svg.number(x)}" cy="{svg.number(y)}" '
        f'r="{5 if trial is tuning.best else 3.5}" data-tip="{escape(_tip(trial, tuning))}"/>'
    )


def _kind(trial: Trial, tuning: Tuning) -> str:
    """The style class of a trial."""
    if trial is tuning.best:
        return "trial best"
    return "trial" if trial.complete else "trial pruned"


def _tip(trial: Trial, tuning: Tuning) -> str:
    names = short_names(tuning.record.space)
    state = "" if trial.result is None or trial.complete else f", {trial.result.state}"
    lines = [f"trial {trial.plan.index}: {significant(trial.error, 4)}{state}"]
    lines += [f"{names[name]}: {shown(value)}" for name, value in trial.plan.values.items()]
    return "\n".join(lines)


def _error_axis(
    errors: Float[np.ndarray, " n"], start: float, stop: float, margin: float = 0.05
) -> svg.Axis:
    """Logarithmic where errors differ by more than a small factor."""
    return svg.Axis.around(errors, start, stop, log=is_wide(errors), margin=margin)


def _lowest(trials: Sequence[Trial]) -> Float[np.ndarray, " trial"]:
    return np.array([trial.error for trial in trials])


def _errors(trial: Trial) -> Float[np.ndarray, " epoch"]:
    errors = np.array(() if trial.result is None else trial.result.errors, dtype=float)
    return np.where(np.isfinite(errors), errors, np.nan)


def _picture(label: str, width: float, height: float, parts: Sequence[str]) -> str:
    size = f"0 0 {svg.number(width)} {svg.number(height)}"
    return (
        f'<svg class="trials" viewBox="{size}" role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg>"
    )
