"""The search in one picture, for papers and slides: PNG and SVG."""

import math
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pgode.runtime.files import write_bytes
from pgode.tuning.output.points import best_so_far, finite_trials, is_wide
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import short_names

OWN, SOFT = "#1a5fb4", "#8b95a1"


def write_pictures(tuning: Tuning, path: Path) -> None:
    """Write `path` with the endings .png and .svg."""
    # The same salt gives the same names of elements: the same search is the same file.
    with rc_context({"svg.hashsalt": "pgode", "font.size": 9}):
        figure = _figure(tuning)
        for kind in ("png", "svg"):
            metadata = {"Date": None} if kind == "svg" else {}
            content = BytesIO()
            figure.savefig(content, format=kind, dpi=150, metadata=metadata)
            write_bytes(path.with_suffix(f".{kind}"), content.getvalue())


def _figure(tuning: Tuning) -> Figure:
    panels = 3 if tuning.importance else 2
    figure = Figure(figsize=(4.2 * panels, 3.4), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _errors(axes[0], tuning)
    _curves(axes[1], tuning)
    if tuning.importance:
        _importance(axes[2], tuning)
    config = tuning.record.config
    figure.suptitle(f"{config.name} ({config.preset}), {len(tuning.trials)} trials")
    return figure


def _errors(panel: Axes, tuning: Tuning) -> None:
    for state, marker in (("complete", "o"), ("pruned", "x")):
        points = [
            (trial.plan.index, trial.error)
            for trial in finite_trials(tuning)
            if trial.result is not None and trial.result.state == state
        ]
        if points:
            x, y = zip(*points, strict=True)
            colour = OWN if state == "complete" else SOFT
            panel.scatter(x, y, s=18, c=colour, marker=marker, label=state)
    indices, lowest = best_so_far(tuning)
    panel.step(indices, lowest, where="post", color=OWN, linewidth=1, label="best so far")
    panel.set(xlabel="trial", ylabel="lowest validation error")
    if is_wide(np.array([trial.error for trial in finite_trials(tuning)])):
        panel.set_yscale("log")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    # Below the panel: above the points it would hide some.
    panel.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)


def _curves(panel: Axes, tuning: Tuning) -> None:
    best = tuning.best
    for trial in sorted(finite_trials(tuning), key=lambda trial: trial is best):
        assert trial.result is not None
        errors = np.array([e if math.isfinite(e) else np.nan for e in trial.result.errors])
        marker = "" if trial.complete and len(errors) > 1 else "x" if len(errors) > 1 else "o"
        (line,) = panel.plot(np.arange(1, len(errors) + 1), errors, marker=marker, markevery=[-1])
        line.set(color=OWN, linewidth=2) if trial is best else line.set(color=SOFT, alpha=0.5)
    panel.set(xlabel="epoch", ylabel="validation error")
    shown = [trial.result.errors for trial in tuning.trials if trial.result is not None]
    if is_wide(np.array([error for errors in shown for error in errors])):
        panel.set_yscale("log")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))


def _importance(panel: Axes, tuning: Tuning) -> None:
    names = short_names(tuning.record.space)
    shares = list(tuning.importance.items())[::-1]
    panel.barh([names[name] for name, _ in shares], [share for _, share in shares], color=OWN)
    panel.set(xlabel="importance")
