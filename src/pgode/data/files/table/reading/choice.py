"""Which column is the object, the time and so on, where the user did not say."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pgode.data.files.table.reading.places import check_column
from pgode.data.files.table.recipe import TableRecipe
from pgode.data.labels.calendar import CALENDAR
from pgode.data.labels.features import guess_roles
from pgode.data.labels.transforms import TRANSFORMS
from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

USUAL = {
    "object": ("object", "id", "object_id", "agent", "name", "node"),
    "time": ("time", "t", "date", "timestamp", "datetime", "frame"),
}
"""Names of columns that are taken where none is given, in order of preference."""
POSITION = re.compile(r"(?:q|pos(?:ition)?)?_?[xyz]", re.IGNORECASE)


def named(frame: "pd.DataFrame", recipe: TableRecipe, source: str) -> "pd.DataFrame":
    """The frame with the column names of a table without a header."""
    if set(recipe.columns) <= set(frame.columns):
        return frame
    if len(recipe.columns) != len(frame.columns):
        raise InputError(
            f"{source} has {len(frame.columns)} columns, but --columns names "
            f"{len(recipe.columns)}: {', '.join(recipe.columns)}. Expected a name for each column. "
            f"Name all of them, or give the delimiter with --delimiter."
        )
    return frame.set_axis(list(recipe.columns), axis=1)


def with_columns(frame: "pd.DataFrame", recipe: TableRecipe, source: str) -> TableRecipe:
    """The recipe with a column for everything it needs, each checked to be there."""
    import pandas as pd

    present = [str(name) for name in frame.columns]
    chosen = {"object": recipe.object, "time": recipe.time}
    for what, column in chosen.items():
        usual = [name for name in USUAL[what] if name in map(str.lower, present)]
        found = [name for name in present if usual and name.lower() == usual[0]]
        if not column and not found:
            raise InputError(
                f"{source} has no column that is named as the {what} usually is "
                f"({', '.join(USUAL[what])}); it has {', '.join(present[:12])}. Expected one with "
                f"the {what} of each row. Name it with --{what}."
            )
        chosen[what] = column or found[0]
        check_column(frame, chosen[what], f"--{what}", source)
    system = recipe.system or ("system" if "system" in present else "")
    grouped = "" if recipe.split_by in ("", "time", "system", "none") else recipe.split_by
    columns = [
        ("--system", system),
        ("--split-by", grouped),
        ("--split-column", recipe.split_column),
    ]
    columns += [("--static", name) for name in recipe.static]
    for option, name in columns:
        if name:
            check_column(frame, name, option, source)
    for name in recipe.known:
        if name not in CALENDAR:
            check_column(frame, name, "--known", source)
    used = {*chosen.values(), *(name for _, name in columns), *recipe.known}
    features = recipe.features or tuple(
        name
        for name in present
        if name not in used and pd.api.types.is_numeric_dtype(frame[name].dtype)
    )
    if not features:
        raise InputError(
            f"{source} has no column of numbers beside {', '.join(sorted(used - {''}))}. Expected "
            f"at least one feature that changes in time. Name it with --features."
        )
    for name in features:
        check_column(frame, name, "--features", source)
        if name in used:
            raise InputError(
                f'the column "{name}" of {source} is a feature and has another meaning too. '
                f"Expected one meaning for each column. Correct --features."
            )
    check_features("--positions", recipe.positions, features)
    check_features("--units", recipe.units, features)
    recipe = recipe.resolved(**chosen, system=system, features=features)
    return recipe.resolved(
        transforms=_transforms(recipe), positions=_positions(recipe, features, source)
    )


def check_features(option: str, names: Iterable[str], features: tuple[str, ...]) -> None:
    """Refuse names that are no features."""
    for name in names:
        one_of("feature", name, features, f"Correct {option}.")


def has_usual_positions(features: tuple[str, ...]) -> tuple[str, ...]:
    """The features that are named as positions usually are."""
    return tuple(name for name in features if POSITION.fullmatch(name))


def _positions(recipe: TableRecipe, features: tuple[str, ...], source: str) -> tuple[str, ...]:
    """Features that are positions: as named, or by their usual names where they must be."""
    if recipe.positions:
        return recipe.positions
    if "position" in guess_roles(features):
        return ()  # Positions and velocities are both in the table.
    by_distance = recipe.edges.startswith(("radius", "knn"))
    if not recipe.velocities and not by_distance:
        return ()
    usual = has_usual_positions(features)
    if not usual:
        need = "--velocities" if recipe.velocities else f"--edges {recipe.edges}"
        raise InputError(
            f"{need} needs positions, but no feature of {source} is named as positions usually are "
            f"(x, y, z); the features are {', '.join(features)}. Expected positions. Name them, "
            f"such as --positions {features[0]}."
        )
    return usual


def _transforms(recipe: TableRecipe) -> dict[str, str]:
    """The transform of each feature that has one; "*" is that of all plain values."""
    for name, transform in recipe.transforms.items():
        one_of("transform", transform, [each for each in TRANSFORMS if each])
        if name != "*":
            check_features("--transform", [name], recipe.features)
    return dict(recipe.transforms)
