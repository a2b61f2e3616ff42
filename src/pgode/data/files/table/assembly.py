"""A table and a recipe make trajectories."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pgode.data.files.table import columns
from pgode.data.files.table.dense import dense_arrays, dense_inputs
from pgode.data.files.table.graphs.rule import (
    check_rule,
    edges_of_rule,
    resolved_rule,
    with_listed_edges,
)
from pgode.data.files.table.reading.choice import named, with_columns
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.recipe import GENERATOR, TableRecipe
from pgode.data.files.table.rows import Rows, read_rows
from pgode.data.files.table.series.segments import LEAST, Segments, check_options, segments
from pgode.data.files.table.velocities import past_slopes, velocity_name, velocity_units
from pgode.data.files.table.wide import to_long
from pgode.data.labels.features import guess_roles
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SEVERAL = 3
"""So many systems are split whole by default: one for each of training, validation and test."""


def from_frame(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    source: str,
    *,
    forecasting: bool = False,
    on_note: Callable[[str], None] = lambda text: None,
) -> Trajectories:
    """The trajectories of a table; `source` names it in errors.

    For forecasting nothing is split or cut: every system stays whole, and last rows that have known
    inputs but no states are kept as future frames. `on_note` receives what a person should know.
    """
    check_options(recipe)
    check_rule(recipe)
    if not len(frame):
        raise InputError(
            f"{source} has no rows. Expected one row for each object and time. Check how it was "
            f"selected."
        )
    if recipe.wide:
        frame, recipe = to_long(frame, recipe, source)
    frame = named(frame, recipe, source)
    if forecasting and recipe.system not in frame.columns:
        recipe = recipe.resolved(system="")
    recipe = with_columns(frame, recipe, source)
    places = Places(frame, source)
    rows, recipe = read_rows(frame, recipe, places, forecasting=forecasting)
    if rows.system_names == [""]:
        rows.system_names[0] = Path(source).stem
    values, names, roles, units = _features(rows, recipe)
    recipe = with_listed_edges(recipe, rows.system_names, rows.object_names, on_note)
    if forecasting:
        recipe = recipe.resolved(split_by="none", split_column="", window=0, stride=0, gap=0)
        cut = _whole(rows)
    else:
        counts = _observed_frames(rows, values, recipe, source)
        if not (recipe.split_by or recipe.split_column):
            several = (counts >= (recipe.window or LEAST)).sum() >= SEVERAL
            recipe = recipe.resolved(split_by="system" if several else "time")
            check_options(recipe)
        cut = segments(
            recipe,
            counts,
            rows.system_names,
            lambda column: _label_of_systems(frame, column, rows, places),
            source,
            on_note,
        )
    dense = dense_arrays(rows, values, cut, source, on_note, keep_all=forecasting)
    rule = resolved_rule(recipe, dense.present, names, roles, source, on_note)
    recipe = rule.recipe
    if rule.positions:
        roles = tuple(
            "position" if n in rule.positions else r for n, r in zip(names, roles, strict=True)
        )
    places_of = [k for k, role in enumerate(roles) if role == "position"]
    edges, cutoff, interval, recipe = edges_of_rule(
        recipe, dense, rows.system_names, rows.object_names, places_of, source, on_note
    )
    inputs, input_names = dense_inputs(rows, dense)
    labels = np.array(rows.object_names)[np.maximum(dense.item, 0)]
    return Trajectories.build(
        dense.states,
        dense.times,
        edges=edges,
        features=names,
        roles=roles,
        units=units,
        observed=np.isfinite(dense.states),
        present=dense.present,
        split=dense.split,
        time_units=rows.time_units,
        title=Path(source.split(", ")[0]).stem,
        generator=GENERATOR,
        generator_version="1",
        generator_settings=json.dumps(recipe.to_json()),
        seed=recipe.seed,
        graph_cutoff=cutoff,
        graph_interval=interval,
        system_names=dense.names,
        object_names=np.where(dense.present, labels, ""),
        constants=dense.constants if rows.constant_names else None,
        constant_names=rows.constant_names,
        inputs=inputs if input_names else None,
        input_names=input_names,
        transforms=_transforms(recipe, names, roles),
        time_origin=rows.origin,
        source=source,
    )


def _features(
    rows: Rows, recipe: TableRecipe
) -> tuple[Float[np.ndarray, "row feature"], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Values, names, roles and units of all features, derived velocities included."""
    names, unit = recipe.features, [recipe.units.get(name, "") for name in recipe.features]
    roles = _roles(names, recipe.positions) if recipe.positions else guess_roles(names)
    if not recipe.velocities:
        return rows.values, names, roles, tuple(unit)
    if "velocity" in roles:
        raise InputError(
            f"--velocities would derive velocities, but {', '.join(names)} already include them. "
            f"Expected positions alone. Leave the option out, or their columns."
        )
    axes = [k for k, role in enumerate(roles) if role == "position"]
    times = rows.frames.times[rows.frames.first[rows.group_system[rows.group]] + rows.frames.of_row]
    speed = past_slopes(
        rows.values[:, axes], times, rows.group, rows.frames.of_row, recipe.velocities
    )
    added = tuple(velocity_name(names[k]) for k in axes)
    unit += [velocity_units(unit[k], rows.time_units) for k in axes]
    values = np.concatenate([rows.values, speed], axis=1)
    return values, (*names, *added), (*roles, *("velocity",) * len(axes)), tuple(unit)


def _roles(names: tuple[str, ...], positions: tuple[str, ...]) -> tuple[str, ...]:
    """Roles where positions are named: velocities are found by the names that we would give."""
    places = [name for name in names if name in positions]
    speeds = [name for name in names if name in map(velocity_name, places)]
    paired = speeds == [velocity_name(name) for name in places]
    role = dict.fromkeys(places, "position") | dict.fromkeys(speeds if paired else (), "velocity")
    return tuple(role.get(name, "value") for name in names)


def _transforms(
    recipe: TableRecipe, names: tuple[str, ...], roles: tuple[str, ...]
) -> tuple[str, ...] | None:
    every = recipe.transforms.get("*", "")
    chosen = tuple(
        recipe.transforms.get(name, every if role == "value" else "")
        for name, role in zip(names, roles, strict=True)
    )
    return chosen if any(chosen) else None


def _observed_frames(
    rows: Rows, values: Float[np.ndarray, "row feature"], recipe: TableRecipe, source: str
) -> Int[np.ndarray, " system"]:
    """Frames of each system up to the last one with a state: later ones cannot be learned from."""
    seen = np.isfinite(values).any(axis=1)
    if not seen.any():
        raise InputError(
            f'{source} has no value at all in its column "{recipe.features[0]}", nor in any other '
            f"feature. Expected observed states. Check --features."
        )
    count = np.zeros(len(rows.system_names), dtype=np.int64)
    np.maximum.at(count, rows.group_system[rows.group[seen]], rows.frames.of_row[seen] + 1)
    return count


def _whole(rows: Rows) -> Segments:
    """Every system as it is."""
    count = rows.frames.count
    zero, one = np.zeros_like(count), np.ones_like(count)
    split = np.full(len(count), "test", dtype=object)
    system = np.arange(len(count))
    return Segments(system, zero, count, count, count, one, split, list(rows.system_names))


def _label_of_systems(frame: "pd.DataFrame", column: str, rows: Rows, places: Places) -> list[str]:
    """The one value that a column has in each system."""
    codes, labels = columns.names(frame, column, f'"{column}"', places)
    codes = codes[rows.order]
    system = rows.group_system[rows.group]
    starts = np.flatnonzero(np.diff(system, prepend=-1))
    first = codes[starts]
    for row in np.flatnonzero(codes != first[system])[:1]:
        place, start = system[row], starts[system[row]]
        raise InputError(
            f'the column "{column}" changes within the system "{rows.system_names[place]}": '
            f'{places.of(int(rows.order[start]))} has "{labels[first[place]]}", '
            f'{places.of(int(rows.order[row]))} has "{labels[codes[row]]}". Expected one value for '
            f"each system. Name the column of the system with --system, or split in time with "
            f"--split-time."
        )
    return [labels[code] for code in first]
