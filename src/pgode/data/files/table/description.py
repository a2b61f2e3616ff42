"""What an import made, in a few lines for people."""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from pgode.data.files.table.graphs.rule import LISTED
from pgode.data.files.table.recipe import STATIC, TableRecipe, recipe_of
from pgode.data.schema import SPLITS
from pgode.data.trajectories import Trajectories


def described(data: Trajectories, output: Path) -> list[tuple[str, str]]:
    """(what, text) pairs: systems, objects, frames, features, edges, gaps and the next command."""
    attrs = data.dataset.attrs
    recipe = recipe_of(attrs["generator"], attrs["generator_settings"]) or TableRecipe()
    parts = [f"{(data.split == s).sum()} {s}" for s in SPLITS if (data.split == s).any()]
    steps = np.diff(data.times, axis=1)
    steps = steps[np.isfinite(steps)]
    step = _span(np.array([float(f"{each:.9g}") for each in (steps.min(), steps.max())]))
    last = float(np.nanmax(data.times))
    lines = [
        ("systems", f"{data.systems} ({', '.join(parts)})"),
        ("objects", f"{_span(data.n_objects)} per system"),
        ("frames", f"{_span(data.n_frames)} per system"),
        ("time", f"{data.when(float(np.nanmin(data.times)))} to {data.when(last)}"),
        ("step", f"{step} {data.time_units}".strip()),
        ("features", ", ".join(_features(data))),
        ("edges", _edges(data, recipe)),
        ("missing", f"{_missing(data):.1%} of all values"),
    ]
    if data.constant_names:
        lines.append(("constants", ", ".join(data.constant_names)))
    if data.input_names:
        lines.append(("known inputs", ", ".join(data.input_names)))
    lines.append(("hash", data.hash[:12]))
    run = Path("runs") / output.stem
    return [*lines, ("next", f"pgode train {output} -o {run.as_posix()}")]


def _span(numbers: Shaped[np.ndarray, " number"]) -> str:
    low, high = numbers.min(), numbers.max()
    return f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"


def _features(data: Trajectories) -> list[str]:
    columns = (data.dataset[f"feature_{each}"].values for each in ("role", "units"))
    rows = zip(data.features, *columns, data.transforms, strict=True)
    return [
        f"{name} ({', '.join(filter(None, (role, units, transform)))})"
        for name, role, units, transform in rows
    ]


def _edges(data: Trajectories, recipe: TableRecipe) -> str:
    edges = data.edges
    count, graphs = len(edges.edge_graph), len(edges.graph_system)
    rule = "from the file" if recipe.edges == LISTED else recipe.edges
    often = ""
    if recipe.edges.startswith(("radius", "knn")):
        every = recipe.edges_every
        often = ", of the first frame" if every == STATIC else f", rebuilt every {every} frames"
        often = often.replace("every 1 frames", "every frame")
    return f"{rule}{often}; {count / graphs:.1f} edges per graph"


def _missing(data: Trajectories) -> float:
    possible = int((data.n_objects * data.n_frames).sum()) * len(data.features)
    return 1 - int(data.observed.sum()) / possible
