"""Tables in wide form: a row for each time, a column for each object."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from pgode.data.files.table.needs import MELTED, refuse_rows
from pgode.data.files.table.reading.choice import USUAL
from pgode.data.files.table.reading.places import PARTS, Places, check_column
from pgode.data.files.table.recipe import TableRecipe
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

OBJECT, TIME, VALUE = "object", "time", "value"
"""Columns of the long form that a wide table becomes."""


def to_long(
    frame: "pd.DataFrame", recipe: TableRecipe, source: str
) -> tuple["pd.DataFrame", TableRecipe]:
    """A wide table in long form; a table that is already long stays as it is."""
    columns = [str(name) for name in frame.columns]
    needed = {recipe.object or OBJECT, *recipe.features}
    if recipe.object and needed <= set(columns):
        return frame, recipe
    if len(recipe.features) > 1:
        raise InputError(
            f"{source} is in wide form and holds one feature, but there are "
            f"{len(recipe.features)}: {', '.join(recipe.features)}. Expected the long form, with "
            f"the columns {recipe.object}, {recipe.time} and {', '.join(recipe.features)}. Convert "
            f"the table."
        )
    return melted([(frame, source)], recipe.features or (VALUE,), recipe)


def melted(
    tables: Sequence[tuple["pd.DataFrame", str]], features: Sequence[str], recipe: TableRecipe
) -> tuple["pd.DataFrame", TableRecipe]:
    """Wide tables of one feature each as one long table."""
    first, source = tables[0]
    time = _time_column(first, recipe, source)
    kept = [name for name in (recipe.system, *recipe.known) if name and name in first.columns]
    objects = [str(name) for name in first.columns if name != time and name not in kept]
    if not objects:
        raise InputError(
            f'{source} has no column beside "{time}". Expected one column for each object. Give '
            f"--delimiter if they are separated by something else."
        )
    refuse_rows(len(first) * len(objects), len(features), source, MELTED)
    long = _melted_one(first, source, time, objects, kept, features[0], recipe.time or TIME)
    for (frame, name), feature in zip(tables[1:], features[1:], strict=True):
        for each in (*([time] if time else []), *objects):
            check_column(frame, each, f"as {source} has", name)
        if len(frame) != len(first) or (time and not _same(frame[time], first[time])):
            raise InputError(
                f"{name} has other times than {source}. Expected the same rows in the files of all "
                f"features. Make them agree."
            )
        long[feature] = _values(frame, objects, name)
    return long, recipe.resolved(
        object=recipe.object or OBJECT,
        time=recipe.time or TIME,
        features=tuple(features),
        system=recipe.system,
    )


def _time_column(frame: "pd.DataFrame", recipe: TableRecipe, source: str) -> str:
    """The column of time; empty if rows are simply counted."""
    if recipe.time and recipe.time in frame.columns:
        return recipe.time
    head = str(frame.columns[0])
    unnamed = head in ("column 1", "index", "Unnamed: 0")
    if recipe.time and recipe.time != TIME:
        check_column(frame, recipe.time, "--time", source)
    if head.lower() in USUAL["time"] or unnamed or frame.iloc[:, 0].dtype.kind not in "iuf":
        return head
    return ""


def _melted_one(
    frame: "pd.DataFrame",
    source: str,
    time: str,
    objects: list[str],
    kept: list[str],
    feature: str,
    time_name: str,
) -> "pd.DataFrame":
    import pandas as pd

    count = len(objects)
    clock = frame[time].to_numpy() if time else np.arange(len(frame))
    long = pd.DataFrame(
        {
            time_name: np.repeat(clock, count),
            OBJECT: pd.Categorical.from_codes(
                np.tile(np.arange(count), len(frame)), categories=objects
            ),
            feature: _values(frame, objects, source),
            **{name: np.repeat(frame[name].to_numpy(), count) for name in kept},
        },
        index=np.repeat(frame.index.to_numpy(), count),
    )
    parts = frame.attrs.get(PARTS, [])
    long.attrs = {PARTS: [(name, start * count) for name, start in parts]} if parts else {}
    return long


def _values(frame: "pd.DataFrame", objects: list[str], source: str) -> Float[np.ndarray, " row"]:
    from pgode.data.files.table.columns import numbers

    if all(kind.kind in "iuf" for kind in set(frame.dtypes)):
        values: Float[np.ndarray, "time object"] = frame[objects].to_numpy(dtype=np.float64)
        if not np.isinf(values).any():
            return values.reshape(-1)
    places = Places(frame, source)
    return np.stack([numbers(frame, name, places) for name in objects], axis=1).reshape(-1)


def _same(one: "pd.Series[object]", two: "pd.Series[object]") -> bool:
    return bool((one.to_numpy() == two.to_numpy()).all())


def feature_names(paths: Sequence[Path], given: Sequence[str]) -> tuple[str, ...]:
    """A feature for each file: as named, or by the names of the files."""
    if not given:
        return tuple(path.stem for path in paths) if len(paths) > 1 else (VALUE,)
    if len(given) != len(paths):
        raise InputError(
            f"there are {len(paths)} files and {len(given)} features: {', '.join(given)}. Expected "
            f"a feature for each file. Correct --feature."
        )
    return tuple(given)
