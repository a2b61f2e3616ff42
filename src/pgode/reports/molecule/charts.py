"""How far forecasts of a molecule are off: RMSD against time, and the error of each residue."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np

from pgode.reports.base import svg
from pgode.reports.base.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    Series,
    draw,
    legend,
)
from pgode.reports.base.numbers import significant
from pgode.reports.molecule.data import Deviation, MoleculeData
from pgode.reports.run.comparison import model_name, split_name
from pgode.reports.run.data import labelled
from pgode.reports.run.tables import table_html

FLOOR = "noise floor"
ROOM = 34.0
"""Pixels that a residue's name needs beside its neighbours; with less it stands upright."""
UPRIGHT = 13.0
"""Pixels that an upright name needs; with less, some names are left out."""


def deviation_html(molecule: MoleculeData, time_units: str) -> str:
    """The whole section: charts in pairs of splits, with their numbers as tables below."""
    if not molecule.deviations:
        return ""
    unit = labelled("RMSD", molecule.unit)
    names = list(molecule.deviations[0].rmsd)
    kinds = ["own", *names[1:]]
    keys = [(model_name(name), kind) for name, kind in zip(names, kinds, strict=True)]
    if molecule.noise_floor is not None:
        keys.append((FLOOR, "noise-floor"))
    charts = [_rmsd_chart(molecule, each, unit, time_units) for each in molecule.deviations]
    extent = np.concatenate([np.zeros(1), *(chart.extents() for chart in charts)])
    curves = "".join(draw(replace(chart, extent=extent)) for chart in charts)
    tallest = max((float(np.nanmax(d.residues, initial=0)) for d in molecule.deviations), default=0)
    bars = "".join(_residue_bars(molecule, each, tallest) for each in molecule.deviations)
    return (
        '<p class="lead">Root-mean-square distance between the atoms of forecast and truth, after '
        "turning and shifting each forecast frame onto its true one; the mean over all systems of "
        f"a split.{_floor_words(molecule)}</p>"
        f'{legend(keys)}<div class="grid">{curves}</div>'
        f"{_folded(_rmsd_table(molecule, unit, time_units))}"
        "<h3>Error of each residue</h3>"
        '<p class="lead">Root of the mean squared distance over a residue’s atoms, all forecast '
        "frames and all systems of a split, after the same superposition.</p>"
        f'<div class="grid">{bars}</div>{_folded(_residue_table(molecule))}'
    )


def _floor_words(molecule: MoleculeData) -> str:
    floor = molecule.noise_floor
    if floor is None:
        return ""
    count = f"{floor.replicas} " if floor.replicas else ""
    return escape(
        f" The noise floor is how far {count}repeated simulations from one state are from their "
        "mean, which is the best forecast there is of any of them."
    )


def _rmsd_chart(molecule: MoleculeData, found: Deviation, unit: str, time_units: str) -> Chart:
    kinds = ["own", *list(found.rmsd)[1:]]
    pairs = zip(found.rmsd.items(), kinds, strict=True)
    series = [Series(model_name(name), kind, values) for (name, values), kind in pairs]
    if molecule.noise_floor is not None:
        series.append(Series(FLOOR, "noise-floor", _floor(molecule, found.split, len(found.times))))
    return Chart(
        split_name(found.split).capitalize(),
        found.times,
        series,
        labelled("time ahead", time_units),
        unit,
        log=False,
        whole=False,
    )


def _floor(molecule: MoleculeData, split: str, frames: int) -> np.ndarray:
    """The floor at the chart's frames; NaN beyond those it was measured at."""
    values = np.full(frames, np.nan)
    if molecule.noise_floor is not None:
        known = molecule.noise_floor.rmsd.get(split, np.empty(0))[:frames]
        values[: len(known)] = known
    return values


def _residue_bars(molecule: MoleculeData, found: Deviation, tallest: float) -> str:
    names, errors = molecule.residues, found.residues
    cell = (WIDTH - LEFT - RIGHT) / len(names)
    upright = cell < ROOM
    every = max(1, int(np.ceil(UPRIGHT / cell))) if upright else 1
    bottom = HEIGHT - BOTTOM
    y_axis = svg.Axis(0.0, 1.05 * tallest or 1.0, bottom, TOP)
    parts = []
    for value, label in y_axis.ticks(5):
        at = float(y_axis.place(np.array([value]))[0])
        parts.append(svg.line(LEFT, at, WIDTH - RIGHT, at, "rule"))
        parts.append(svg.text(LEFT - 7, at + 3.5, label, "tick end"))
    gap = min(0.2 * cell, 6.0)
    for k, (name, error) in enumerate(zip(names, errors, strict=True)):
        middle = LEFT + (k + 0.5) * cell
        if np.isfinite(error):
            top = float(y_axis.place(np.array([error]))[0])
            tip = f"{name}: {significant(error)} {molecule.unit}".strip()
            parts.append(
                f'<rect class="bar-own" x="{svg.number(middle - cell / 2 + gap / 2)}" '
                f'y="{svg.number(top)}" width="{cell - gap:.2f}" '
                f'height="{svg.number(bottom - top)}" data-tip="{escape(tip)}"/>'
            )
        if k % every == 0 and upright:
            turn = f' transform="rotate(-90 {svg.number(middle + 4)} {svg.number(bottom + 6)})"'
            parts.append(svg.text(middle + 4, bottom + 6, name, "tick end", turn))
        elif k % every == 0:
            parts.append(svg.text(middle, bottom + 16, name, "tick mid"))
    parts.append(svg.text(LEFT, 14, split_name(found.split).capitalize(), "title start"))
    side = (TOP + bottom) / 2
    turn = f' transform="rotate(-90 11 {svg.number(side)})"'
    label = y_axis.named(labelled("error", molecule.unit))
    parts.append(svg.text(11, side + 3, label, "axis mid", turn))
    size = f"0 0 {svg.number(WIDTH)} {svg.number(HEIGHT + (12 if upright else 0))}"
    words = f"Error of each of {len(names)} residues, {split_name(found.split)}"
    return (
        f'<svg class="bars" viewBox="{size}" role="img" aria-label="{escape(words)}">'
        f"{''.join(parts)}</svg>"
    )


def _rmsd_table(molecule: MoleculeData, unit: str, time_units: str) -> str:
    columns, titles = [], []
    for found in molecule.deviations:
        for name, values in found.rmsd.items():
            titles.append(f"{model_name(name)}, {split_name(found.split)}")
            columns.append(values)
        if molecule.noise_floor is not None:
            titles.append(f"{FLOOR}, {split_name(found.split)}")
            columns.append(_floor(molecule, found.split, len(found.times)))
    times = molecule.deviations[0].times
    rows = [
        (significant(time), [values[k] if k < len(values) else np.nan for values in columns])
        for k, time in enumerate(times)
    ]
    return _numbers(unit, labelled("time ahead", time_units), titles, rows)


def _residue_table(molecule: MoleculeData) -> str:
    titles = [split_name(found.split) for found in molecule.deviations]
    errors = [found.residues for found in molecule.deviations]
    rows = [(name, [each[k] for each in errors]) for k, name in enumerate(molecule.residues)]
    return _numbers(labelled("Error of each residue", molecule.unit), "residue", titles, rows)


def _numbers(
    caption: str, first: str, titles: Sequence[str], rows: Sequence[tuple[str, Sequence[float]]]
) -> str:
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in (first, *titles))
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        f"{''.join(f'<td>{significant(float(value))}</td>' for value in values)}</tr>"
        for name, values in rows
    )
    return table_html(caption, f"<tr>{head}</tr>", [f'<tbody class="plain">{body}</tbody>'])


def _folded(table: str) -> str:
    return f"<details><summary>As a table</summary>{table}</details>"
