"""Section "Deviation": RMSD against time, and the error of each residue."""

from dataclasses import replace
from html import escape

import numpy as np
from jaxtyping import Float

from pgode.reports.base.charts import Chart, Series, draw, legend
from pgode.reports.base.names import NOISE_FLOOR, labelled, model_name, split_name
from pgode.reports.base.numbers import MISSING, finite, significant
from pgode.reports.base.page import folded
from pgode.reports.base.tables import plain_table
from pgode.reports.molecule.data import MoleculeData
from pgode.reports.molecule.deviation import Deviation
from pgode.reports.molecule.residues import residue_charts, residue_table

FLOOR_CLASS = "noise-floor"


def deviation_html(molecule: MoleculeData, time_units: str) -> str:
    """The whole section: charts by split, with their numbers as tables below."""
    if not molecule.deviations:
        return ""
    charts = [_rmsd_chart(molecule, each, time_units) for each in molecule.deviations]
    extent = np.concatenate([np.zeros(1), *(chart.extents() for chart in charts)])
    curves = "".join(draw(replace(chart, extent=extent)) for chart in charts)
    return (
        '<p class="lead">Root-mean-square distance between the atoms of forecast and truth, after '
        "superposing each forecast frame on its true one; the mean over all systems of "
        f"a split.{_floor_text(molecule)}</p>"
        f'{_legend(molecule)}<div class="grid">{curves}</div>'
        f"{folded('As a table', _rmsd_table(molecule, time_units))}"
        "<h3>Error of each residue</h3>"
        '<p class="lead">Root of the mean squared distance over a residue’s atoms, all forecast '
        "frames and all systems of a split, after the same superposition.</p>"
        f'<div class="grid">{residue_charts(molecule)}</div>'
        f"{folded('As a table', residue_table(molecule))}"
    )


def _legend(molecule: MoleculeData) -> str:
    own, *naive = molecule.deviations[0].rmsd
    entries = [(model_name(own), "own"), *((model_name(name), name) for name in naive)]
    floor = [] if molecule.noise_floor is None else [(NOISE_FLOOR, FLOOR_CLASS)]
    return legend([*entries, *floor])


def _floor_text(molecule: MoleculeData) -> str:
    floor = molecule.noise_floor
    if floor is None:
        return ""
    count = f"{floor.replicas} " if floor.replicas else ""
    return escape(
        f" The noise floor is the deviation of {count}repeated simulations of one state from their "
        "mean, which is the best possible forecast of each."
    )


def _rmsd_chart(molecule: MoleculeData, deviation: Deviation, time_units: str) -> Chart:
    classes = ["own", *list(deviation.rmsd)[1:]]
    pairs = zip(deviation.rmsd.items(), classes, strict=True)
    series = [Series(model_name(name), kind, values) for (name, values), kind in pairs]
    if molecule.noise_floor is not None:
        series.append(Series(NOISE_FLOOR, FLOOR_CLASS, _floor(molecule, deviation)))
    return Chart(
        split_name(deviation.split).capitalize(),
        deviation.times,
        series,
        labelled("time ahead", time_units),
        labelled("RMSD", molecule.unit),
        log=False,
        whole=False,
    )


def _floor(molecule: MoleculeData, deviation: Deviation) -> Float[np.ndarray, " horizon"]:
    """The floor at the frames of a deviation; NaN beyond those it was measured at."""
    values = np.full(len(deviation.times), np.nan)
    if molecule.noise_floor is not None:
        known = molecule.noise_floor.rmsd.get(deviation.split, [])[: len(values)]
        values[: len(known)] = [finite(value) for value in known]
    return values


def _rmsd_table(molecule: MoleculeData, time_units: str) -> str:
    columns, titles = [], []
    for deviation in molecule.deviations:
        split = split_name(deviation.split)
        for name, values in deviation.rmsd.items():
            titles.append(f"{model_name(name)}, {split}")
            columns.append(values)
        if molecule.noise_floor is not None:
            titles.append(f"{NOISE_FLOOR}, {split}")
            columns.append(_floor(molecule, deviation))
    rows = [
        (
            significant(time),
            [significant(float(values[k])) if k < len(values) else MISSING for values in columns],
        )
        for k, time in enumerate(molecule.deviations[0].times)
    ]
    titles = [labelled("time ahead", time_units), *titles]
    return plain_table(labelled("RMSD", molecule.unit), titles, rows)
