"""The error of each residue as bars and as a table."""

from html import escape

import numpy as np

from pgode.reports.base import svg
from pgode.reports.base.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from pgode.reports.base.names import labelled, split_name
from pgode.reports.base.numbers import significant
from pgode.reports.base.tables import plain_table
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import Deviation

NAME_WIDTH = 34.0
"""Pixels that a residue's name needs beside its neighbours; with less it is written upright."""
UPRIGHT_WIDTH = 13.0
"""Pixels that an upright name needs; with less, some names are left out."""


def residue_charts(molecule: MoleculeData) -> str:
    """Bars for each split, on the same scale."""
    tallest = max(float(np.nanmax(each.residues, initial=0)) for each in molecule.deviations)
    return "".join(_chart(molecule, each, tallest) for each in molecule.deviations)


def residue_table(molecule: MoleculeData) -> str:
    """The numbers of the bars."""
    titles = ["residue", *(split_name(each.split) for each in molecule.deviations)]
    rows = [
        (name, [significant(float(each.residues[k])) for each in molecule.deviations])
        for k, name in enumerate(molecule.residues)
    ]
    return plain_table(labelled("Error of each residue", molecule.unit), titles, rows)


def _chart(molecule: MoleculeData, deviation: Deviation, tallest: float) -> str:
    names = molecule.residues
    width = (WIDTH - LEFT - RIGHT) / len(names)
    upright = width < NAME_WIDTH
    every = max(1, int(np.ceil(UPRIGHT_WIDTH / width))) if upright else 1
    y_axis = svg.Axis(0.0, 1.05 * tallest or 1.0, HEIGHT - BOTTOM, TOP)
    parts = [_grid(y_axis)]
    for k, (name, error) in enumerate(zip(names, deviation.residues, strict=True)):
        middle = LEFT + (k + 0.5) * width
        tip = f"{name}: {significant(error)} {molecule.unit}".strip()
        parts.append(_bar(y_axis, middle, width, float(error), tip))
        if k % every == 0:
            parts.append(_name(middle, name, upright))
    split = split_name(deviation.split)
    parts.append(svg.text(LEFT, 14, split.capitalize(), "title start"))
    side = (TOP + HEIGHT - BOTTOM) / 2
    turn = f' transform="rotate(-90 11 {svg.number(side)})"'
    label = y_axis.named(labelled("error", molecule.unit))
    parts.append(svg.text(11, side + 3, label, "axis mid", turn))
    size = f"0 0 {svg.number(WIDTH)} {svg.number(HEIGHT + (12 if upright else 0))}"
    title = escape(f"Error of each of {len(names)} residues, {split}")
    return (
        f'<svg class="bars" viewBox="{size}" role="img" aria-label="{title}">{"".join(parts)}</svg>'
    )


def _grid(y_axis: svg.Axis) -> str:
    parts = []
    for value, label in y_axis.ticks(5):
        at = float(y_axis.place(np.array([value]))[0])
        parts.append(svg.line(LEFT, at, WIDTH - RIGHT, at, "rule"))
        parts.append(svg.text(LEFT - 7, at + 3.5, label, "tick end"))
    return "".join(parts)


def _bar(y_axis: svg.Axis, middle: float, width: float, error: float, tip: str) -> str:
    """The bar of one residue; none if its error is unknown."""
    if not np.isfinite(error):
        return ""
    gap = min(0.2 * width, 6.0)
    top = float(y_axis.place(np.array([error]))[0])
    return (
        f'<rect class="bar-own" x="{svg.number(middle - width / 2 + gap / 2)}" '
        f'y="{svg.number(top)}" width="{width - gap:.2f}" '
        f'height="{svg.number(y_axis.start - top)}" data-tip="{escape(tip)}"/>'
    )


def _name(middle: float, name: str, upright: bool) -> str:
    bottom = HEIGHT - BOTTOM
    if not upright:
        return svg.text(middle, bottom + 16, name, "tick mid")
    turn = f' transform="rotate(-90 {svg.number(middle + 4)} {svg.number(bottom + 6)})"'
    return svg.text(middle + 4, bottom + 6, name, "tick end", turn)
