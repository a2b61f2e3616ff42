"""What is in a data file, in words."""

from typing import Any

import numpy as np

from pgode.data.checkup.checks.graphs import degrees
from pgode.data.checkup.finding import counted, number
from pgode.data.checkup.subject import Subject
from pgode.data.summary import per_system


def contents(subject: Subject) -> dict[str, str]:
    """A row for each thing that the data hold."""
    data = subject.data
    splits = ", ".join(f"{len(systems):,} {name}" for name, systems in subject.splits())
    rows = {
        "systems": f"{data.systems:,} ({splits})",
        "objects": per_system(int(data.n_objects.min()), int(data.n_objects.max()), "object"),
        "frames": per_system(int(subject.frames.min()), int(subject.frames.max()), "frame"),
        "time": _time(subject),
    }
    if data.constant_names:
        rows["constants"] = ", ".join(data.constant_names)
    if data.input_names:
        rows["known ahead"] = ", ".join(data.input_names)
    rows["graph"] = _graph(subject)
    return rows


def feature_rows(subject: Subject) -> list[dict[str, Any]]:
    """Name, role, variable, units, range and missing share of each feature."""
    data = subject.data
    possible = max(1, int(subject.possible.sum()))
    variables = data.dataset["feature_variable"].values
    units = data.dataset["feature_units"].values
    rows = []
    for k, name in enumerate(data.features):
        values = subject.series(k)
        known = np.isfinite(values)
        some = bool(known.any())
        rows.append(
            {
                "name": name,
                "role": subject.roles[k],
                "variable": str(variables[k]),
                "units": str(units[k]),
                "transform": data.transforms[k],
                "min": float(np.min(values, where=known, initial=np.inf)) if some else None,
                "median": float(np.median(subject.sample(k))) if subject.sample(k).size else None,
                "max": float(np.max(values, where=known, initial=-np.inf)) if some else None,
                "missing": float(1 - known.sum() / possible),
            }
        )
    return rows


def _time(subject: Subject) -> str:
    data = subject.data
    first, last = float(np.nanmin(subject.times)), float(np.nanmax(subject.times))
    if not np.isfinite(subject.step):
        return f"one frame only, at {data.when(first)}"
    step = f"{number(subject.step)} {data.time_units}".strip()
    return f"{data.when(first)} to {data.when(last)}, step {step}"


def _graph(subject: Subject) -> str:
    edges = subject.data.edges
    if not len(edges.edge_sender):
        return "no edges"
    count = degrees(subject)
    known = count[count >= 0]
    changes = np.bincount(edges.graph_system, minlength=subject.data.systems)
    moving = int((changes > 1).sum())
    how = (
        "static"
        if not moving
        else f"changing ({counted(len(edges.graph_system), 'graph')} in {subject.data.systems:,} "
        f"systems)"
    )
    each = (
        f"{known.min()}"
        if known.min() == known.max()
        else f"{known.min()} to {known.max()}, on average {number(float(known.mean()))}"
    )
    return f"{how}; each object receives {each} edges"
