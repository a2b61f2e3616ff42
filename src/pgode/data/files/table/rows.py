"""The rows of a table as arrays, sorted by system, object and frame.

Everything up to the last step works on rows, not on arrays of all objects and frames: most objects
of a long recording are seen only briefly.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int, Shaped

from pgode.data.files.table import columns
from pgode.data.files.table.needs import refuse_rows
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.recipe import TableRecipe
from pgode.data.files.table.series.dates import read_times, unit_of
from pgode.data.files.table.series.frames import Frames, frames_of
from pgode.data.labels.calendar import CALENDAR, SECONDS
from pgode.data.labels.transforms import TRANSFORMS
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""Numbers that differ by less than this share are the same constant."""


@dataclass(frozen=True)
class Rows:
    """Rows by group (an object of a system) and frame; groups are sorted by system.

    `order` is the row of the table that each came from. `calendar` lists inputs that follow from
    the date of a frame.
    """

    order: Int[np.ndarray, " row"]
    group: Int[np.ndarray, " row"]
    values: Float[np.ndarray, "row feature"]
    inputs: Float[np.ndarray, "row input"]
    input_names: tuple[str, ...]
    calendar: tuple[str, ...]
    frames: Frames
    group_system: Int[np.ndarray, " group"]
    group_object: Int[np.ndarray, " group"]
    constants: Float[np.ndarray, "group constant"]
    constant_names: tuple[str, ...]
    system_names: list[str]
    object_names: list[str]
    time_units: str
    origin: str


def read_rows(
    frame: "pd.DataFrame", recipe: TableRecipe, places: Places, *, forecasting: bool = False
) -> tuple[Rows, TableRecipe]:
    """All rows as numbers, and the recipe with categories, time step and unit of this table."""
    count = len(frame)
    refuse_rows(count, len(recipe.features), places.source)
    if recipe.system and recipe.system in frame.columns:
        system, system_names = columns.names(frame, recipe.system, "system", places)
    else:
        system, system_names = np.zeros(count, dtype=np.int64), [""]
    item, object_names = columns.names(frame, recipe.object, "object", places)
    times = read_times(frame, recipe, places)
    values = np.empty((count, len(recipe.features)))
    for k, name in enumerate(recipe.features):
        values[:, k] = columns.numbers(frame, name, places)
        _check_domain(values[:, k], recipe, name, places)
    seconds = SECONDS[_dated_unit(recipe)] if times.origin and recipe.time_units else 1.0
    frames = frames_of(system, times.values, len(system_names), recipe.step * seconds)
    _check_extent(frames, object_names, places, forecasting)
    units = recipe.time_units or (unit_of(frames.shortest) if times.origin else "")
    frames = _in_units(frames, SECONDS[units]) if times.origin else frames

    most = int(frames.count.max())
    key = (system * len(object_names) + item) * most + frames.of_row
    order = np.arange(count)
    if count > 1 and (np.diff(key) < 0).any():
        order = np.argsort(key, kind="stable")
        key = key[order]
    for row in np.flatnonzero(key[1:] == key[:-1])[:1]:
        _refuse_repeat(frame, recipe, places, int(order[row]), int(order[row + 1]))
    owner = key // most
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    group = np.cumsum(np.diff(owner, prepend=-1) != 0) - 1

    known, calendar, categories = _inputs(frame, recipe, places, bool(times.origin))
    static, more = _constants(frame, recipe, places, order, group, starts)
    recipe = recipe.resolved(
        time_units=units,
        dated=bool(times.origin),
        step=recipe.step or frames.step,
        categories={**categories, **more},
    )
    inputs = [each.values for each in known]
    return Rows(
        order=order,
        group=group,
        values=values[order],
        inputs=np.concatenate(inputs, axis=1)[order] if inputs else np.empty((count, 0)),
        input_names=tuple(name for each in known for name in each.names),
        calendar=calendar,
        frames=_reordered(frames, order),
        group_system=owner[starts] // len(object_names),
        group_object=owner[starts] % len(object_names),
        constants=np.concatenate([v for _, v in static], 1)
        if static
        else np.empty((len(starts), 0)),
        constant_names=tuple(name for names, _ in static for name in names),
        system_names=system_names,
        object_names=object_names,
        time_units=units,
        origin=times.origin,
    ), recipe


def _dated_unit(recipe: TableRecipe) -> str:
    if recipe.time_units not in SECONDS:
        raise InputError(
            f'the column "{recipe.time}" holds dates, and --time-units is "{recipe.time_units}". '
            f"Expected one of {', '.join(SECONDS)}. Leave it out to have one chosen."
        )
    return recipe.time_units


def _in_units(frames: Frames, seconds: float) -> Frames:
    """Frames whose times were in seconds."""
    return Frames(
        frames.of_row,
        frames.first,
        frames.count,
        np.round(frames.times, 3) / seconds,
        frames.step / seconds,
        frames.shortest / seconds,
        frames.filled,
    )


def _reordered(frames: Frames, order: Int[np.ndarray, " row"]) -> Frames:
    rest = (frames.first, frames.count, frames.times, frames.step, frames.shortest, frames.filled)
    return Frames(frames.of_row[order], *rest)


def _check_extent(
    frames: Frames, object_names: list[str], places: Places, forecasting: bool
) -> None:
    """Enough to learn from: two objects, and two frames of a system."""
    if forecasting:
        return
    if len(object_names) < 2:
        raise InputError(
            f'{places.source} has one object, "{object_names[0]}". Expected at least two: a model '
            f"learns how objects act on each other. Name the column that tells them apart with "
            f"--object."
        )
    if frames.count.max() < 2:
        raise InputError(
            f"every system of {places.source} has one frame. Expected several times for each "
            f"system. Name the column of time with --time, and check --system."
        )


def _check_domain(
    values: Float[np.ndarray, " row"], recipe: TableRecipe, name: str, places: Places
) -> None:
    """Every value has its transform."""
    chosen = recipe.transforms.get(name, recipe.transforms.get("*", ""))
    if not chosen or name in recipe.positions:
        return
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = ~np.isfinite(TRANSFORMS[chosen].forward(values)) & np.isfinite(values)
    for row in np.flatnonzero(wrong)[:1]:
        expected = f"{TRANSFORMS[chosen].domain}, for the transform {chosen}"
        raise places.error(row, name, f"{values[row]:g}", expected, "Choose another transform.")


def _refuse_repeat(
    frame: "pd.DataFrame", recipe: TableRecipe, places: Places, one: int, two: int
) -> None:
    shown = [
        f'{what} "{columns.label(frame[column].iloc[two])}"'
        for what, column in (("system", recipe.system), ("object", recipe.object))
        if column in frame.columns
    ]
    moment = columns.label(frame[recipe.time].iloc[two])
    raise InputError(
        f'{places.of(one)} and {places.of(two)} are both for {", ".join(shown)} at "{recipe.time}" '
        f"{moment}. Expected one row for each system, object and time. Remove one of them, or name "
        f"the column that tells their systems apart with --system."
    )


def _inputs(
    frame: "pd.DataFrame", recipe: TableRecipe, places: Places, dated: bool
) -> tuple[list[columns.Column], tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Known inputs: columns of the table, and names of the calendar."""
    found, calendar, categories = [], [], {}
    for name in recipe.known:
        if name in frame.columns:
            fixed = recipe.categories.get(name)
            column = columns.numbers_or_categories(frame, name, fixed, places)
            found.append(column)
            categories[name] = column.categories
        elif dated:
            calendar.append(name)
        else:
            raise InputError(
                f'the known input "{name}" is no column of {places.source}, and its times are no '
                f"dates. Expected a column, or dates, of which {', '.join(CALENDAR)} follow. "
                f"Correct --known or --time."
            )
    return found, tuple(calendar), categories


def _constants(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    places: Places,
    order: Int[np.ndarray, " row"],
    group: Int[np.ndarray, " row"],
    starts: Int[np.ndarray, " group"],
) -> tuple[
    list[tuple[tuple[str, ...], Float[np.ndarray, "group name"]]], dict[str, tuple[str, ...]]
]:
    """The constants of each group: the one value that its rows have, NaN if they have none."""
    found, categories = [], {}
    for name in recipe.static:
        column = columns.numbers_or_categories(frame, name, recipe.categories.get(name), places)
        categories[name] = column.categories
        sorted_values = column.values[order]
        low = np.fmin.reduceat(sorted_values, starts, axis=0)
        # Files repeat a number as 44.572 and as 44.571999999999996.
        changed = sorted_values - low[group] > ROUNDING * np.abs(low[group])
        for row, _ in np.argwhere(changed)[:1]:
            rows = np.flatnonzero((group == group[row]) & ~np.isnan(sorted_values[:, 0]))
            texts: Shaped[np.ndarray, " row"] = frame[name].iloc[order[rows]].to_numpy()
            other = int(row) if row != rows[0] else rows[texts != texts[0]][0]
            raise InputError(
                f'the constant "{name}" changes within one object: {places.of(int(order[rows[0]]))}'
                f" has {columns.label(texts[0])}, {places.of(int(order[other]))} has "
                f"{columns.label(frame[name].iloc[order[other]])}. Expected one value for each "
                f"object. Correct it, or make it a feature or a known input (--known)."
            )
        found.append((column.names, low))
    return found, categories
