"""Section "Prototypes": the gate weights w_i of Eq. 11 as a map."""

from html import escape

import numpy as np
from jaxtyping import Float

from pgode.evaluation.evaluation import Evaluation
from pgode.reports.base import svg
from pgode.reports.base.example import Example
from pgode.reports.base.names import split_name
from pgode.reports.base.verdicts import Verdict, verdict_list
from pgode.reports.run.data import PageContent
from pgode.reports.run.systems.columns import split_columns
from pgode.reports.run.systems.pictures import object_style

WIDTH = 520.0
LEFT, TOP, ROW, MEAN = 30.0, 24.0, 24.0, 46.0
"""Pixels before the first object, above the first prototype, of one prototype, of the mean."""


def prototypes_section(content: PageContent) -> str:
    """Gate weights of the included systems; empty for models without prototypes."""
    figures = [
        (
            example.split,
            f"<figure>{gate_map(example, example.gate)}"
            f"<figcaption><b>{escape(example.name)}</b>"
            f"{' · ' * bool(example.period)}{escape(example.period)}</figcaption></figure>",
        )
        for example in content.examples
        if example.gate is not None
    ]
    if not figures:
        return ""
    return (
        '<p class="lead">The weight of each prototype (rows) in the motion of each object '
        f"(columns). The weights of an object add up to 1. {content.objects_note}</p>"
        f"{verdict_list(gate_verdicts(content.evaluation))}{split_columns(figures)}"
    )


def gate_verdicts(evaluation: Evaluation) -> list[Verdict]:
    """How many prototypes are in use on each split; a warning if hardly more than one is."""
    sentences = []
    for split, use in (evaluation.gate_use or {}).items():
        text = f"Prototypes in use {split_name(split)}: {use.text}."
        collapsed = " The gate has collapsed: the mixture is hardly more than one prototype."
        sentences.append(Verdict(not use.is_collapsed, text + collapsed * use.is_collapsed))
    return sentences


def gate_map(example: Example, gate: Float[np.ndarray, "objects prototypes"]) -> str:
    """Prototypes as rows, objects as columns in the colours of the pictures, the mean at the right.

    The opacity of a cell is its weight, which works in both colour schemes. Cells have numbers if
    these fit.
    """
    objects, prototypes = gate.shape
    cell = (WIDTH - LEFT - MEAN - 10) / objects
    roomy = cell >= 30
    parts = [svg.text(WIDTH - MEAN / 2, 15, "mean", "tick mid")]
    if roomy:
        for index in range(objects):
            x = LEFT + (index + 0.5) * cell
            style = f'class="swatch" style="{object_style(index, objects)}"'
            parts.append(f'<circle {style} cx="{svg.number(x - 9)}" cy="11" r="4"/>')
            parts.append(svg.text(x + 6, 15, str(index), "tick mid"))
    else:
        span = f"objects 0 to {objects - 1}"
        if example.labels:
            span = f"{objects} objects, {_short(example.label(0))} to {_short(example.label(-1))}"
        parts.append(svg.text(LEFT, 15, span, "tick start"))
    for k in range(prototypes):
        y = TOP + k * ROW
        parts.append(svg.text(LEFT - 8, y + ROW / 2 + 4, str(k), "tick end"))
        for index in range(objects):
            tip = f"{example.label(index)}, prototype {k}: {gate[index, k]:.3f}"
            parts.append(_cell(LEFT + index * cell, y, cell, float(gate[index, k]), tip, roomy))
        mean = float(np.mean(gate[:, k]))
        tip = f"prototype {k}, mean over objects: {mean:.3f}"
        parts.append(_cell(WIDTH - MEAN, y, MEAN, mean, tip, True))
    height = TOP + prototypes * ROW + 2
    label = f"{example.name}: weights of {prototypes} prototypes for {objects} objects"
    return (
        f'<svg class="gate" viewBox="0 0 {svg.number(WIDTH)} {svg.number(height)}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def _cell(x: float, y: float, width: float, weight: float, tip: str, roomy: bool) -> str:
    known = np.isfinite(weight)
    gap = 2.0 if roomy else 0.0
    opacity = min(max(weight, 0), 1) if known else 0
    rect = (
        f'<rect x="{svg.number(x)}" y="{svg.number(y)}" width="{svg.number(width - gap)}" '
        f'height="{svg.number(ROW - 2)}" fill-opacity="{opacity:.3f}" '
        f'data-tip="{escape(tip)}"/>'
    )
    if not (roomy and known):
        return rect
    kind = "weight strong" if weight > 0.68 else "weight"
    return rect + svg.text(x + (width - gap) / 2, y + ROW / 2 + 2.5, f"{weight:.2f}", kind)
