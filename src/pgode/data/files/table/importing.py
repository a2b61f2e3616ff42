"""`pgode.from_table`: trajectories from a table, with every choice as an option."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgode.data.files.table.assembly import from_frame
from pgode.data.files.table.reading.choice import named
from pgode.data.files.table.reading.frames import frame_of, joined, read_frame
from pgode.data.files.table.recipe import AUTO, SHARES, STATIC, TableRecipe
from pgode.data.files.table.velocities import DEFAULT
from pgode.data.files.table.wide import feature_names, melted
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import abridged, check_int
from pgode.runtime.errors import InputError
from pgode.runtime.limits.bounds import FRAMES, SEED

if TYPE_CHECKING:
    import pandas as pd


def from_table(
    table: Any,
    *,
    object: str = "",
    time: str = "",
    features: Sequence[str] = (),
    system: str = "",
    time_units: str = "",
    date_format: str = "",
    units: Mapping[str, str] | None = None,
    positions: Sequence[str] = (),
    velocities: bool | int = False,
    static: Sequence[str] = (),
    known: Sequence[str] = (),
    transform: str | Mapping[str, str] = "",
    edges: str | Path = "",
    edges_every: int | str = AUTO,
    undirected: bool | None = None,
    window: int | None = None,
    stride: int | None = None,
    split_time: Sequence[float] | None = None,
    gap: int = 0,
    split_by: str = "",
    split: Sequence[float] | None = None,
    split_column: str = "",
    seed: int = 0,
    wide: bool = False,
    header: bool = True,
    columns: Sequence[str] = (),
    delimiter: str = "",
    decimal: str = ".",
    on_note: Callable[[str], None] | None = None,
) -> Trajectories:
    """Trajectories from a table in long form: one row for each object at each time.

    `table` is a pandas, polars or Arrow table, a path, or several paths (the file is then the
    system, if no column is). Without `object` and `time` the usual names of columns are looked for;
    without `features` all other columns of numbers are taken; without `system` there is one system.

    `velocities` derives velocities from past positions; a number is that of the frames it uses.
    `static` names constants of objects, `known` inputs known ahead: columns of numbers or
    categories, or weekday, month or hour where times are dates. `transform` is one for all plain
    values, or one for each feature.

    `edges` is all, none, radius:R, knn:K or a file. `window` and `stride` cut series into systems
    of so many frames. `split_time` are shares in time for training, validation and test, `gap`
    frames apart; otherwise whole systems, or all with the same value in the column `split_by`, are
    drawn by the shares `split`, unless `split_column` names them.

    With `wide` each row is a time and each column an object; several paths are several features.
    `on_note` receives sentences about what was chosen.
    """
    recipe = TableRecipe(
        features=_words("features", features),
        object=object,
        time=time,
        system=system,
        time_units=time_units,
        date_format=date_format,
        units=dict(units or {}),
        positions=_words("positions", positions),
        velocities=_frames_of_filter(velocities),
        static=_words("static", static),
        known=_words("known", known),
        transforms={"*": transform}
        if isinstance(transform, str) and transform
        else dict(transform or {}),
        edges=str(edges),
        edges_every=_every(edges_every),
        undirected=undirected,
        window=0 if window is None else check_int("window", window, 2, FRAMES),
        stride=0 if stride is None else check_int("stride", stride, 1, FRAMES),
        gap=check_int("gap", gap, 0, FRAMES),
        split_by=_rule(split_time, split_by, split, split_column),
        split_column=split_column,
        shares=tuple(split_time or split or SHARES),
        seed=check_int("seed", seed, 0, SEED),
        header=header,
        columns=_words("columns", columns),
        delimiter=delimiter,
        decimal="," if decimal == "comma" else decimal,
        wide=wide,
    )
    if recipe.columns and header:
        raise InputError(
            "columns are named although the table has a header. Expected names only for a table "
            "without one. Give --no-header, or leave --columns out."
        )
    frame, recipe, source = _table(table, recipe)
    return from_frame(frame, recipe, source, on_note=on_note or (lambda text: None))


def _table(table: Any, recipe: TableRecipe) -> tuple["pd.DataFrame", TableRecipe, str]:
    """The frame, the recipe for it, and what errors call it."""
    single = isinstance(table, str | Path)
    if not single and not (isinstance(table, Sequence) and not hasattr(table, "to_pandas")):
        return frame_of(table), recipe, "the table"
    paths = [Path(table)] if single else [Path(each) for each in table]
    if not paths:
        raise InputError("there is no table to read. Expected at least one file. Give its path.")
    for path in paths:
        if [other.resolve() for other in paths].count(path.resolve()) > 1:
            raise InputError(
                f"the file {path} is given twice. Expected each file once. Leave one out."
            )
    frames = [
        read_frame(path, recipe.delimiter or None, recipe.header, decimal=recipe.decimal)
        for path in paths
    ]
    if recipe.wide:
        names = feature_names(paths, recipe.features)
        tables = [(frame, str(path)) for frame, path in zip(frames, paths, strict=True)]
        return (*melted(tables, names, recipe), str(paths[0]))
    if len(paths) == 1:
        return frames[0], recipe, str(paths[0])
    if not recipe.system and "system" not in (recipe.columns or frames[0].columns):
        frames = [
            named(frame, recipe, str(path)).assign(system=path.stem)
            for frame, path in zip(frames, paths, strict=True)
        ]
        recipe = recipe.resolved(system="system")
    return joined(frames, paths), recipe, ", ".join(str(path) for path in paths[:3])


def _words(what: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [given]
    words = tuple(str(word) for word in given)
    for word in words:
        if words.count(word) > 1 or not word:
            problem = f'"{word}" twice' if word else "an empty name"
            raise InputError(
                f"{what} has {problem}: {','.join(words)}. Expected different names. Correct it."
            )
    return words


def _frames_of_filter(velocities: bool | int) -> int:
    if isinstance(velocities, bool):
        return DEFAULT if velocities else 0
    return check_int("velocities", velocities, 2, FRAMES) if velocities else 0


def _every(edges_every: int | str) -> int:
    if edges_every == "static":
        return STATIC
    if edges_every in (AUTO, ""):
        return AUTO
    try:
        number = int(edges_every)
    except ValueError:
        number = 0
    if not 1 <= number <= FRAMES:
        raise InputError(
            f"edges-every is {abridged(edges_every)}. Expected a number of frames from 1 to "
            f"{FRAMES}, or static. Correct it."
        )
    return number


def _rule(
    split_time: Sequence[float] | None,
    split_by: str,
    split: Sequence[float] | None,
    split_column: str,
) -> str:
    """How systems are split; two ways at once contradict each other."""
    ways = {
        "--split-time": split_time is not None,
        "--split-by or --split": bool(split_by) or split is not None,
        "--split-column": bool(split_column),
    }
    given = [name for name, is_given in ways.items() if is_given]
    if len(given) > 1:
        raise InputError(
            f"{' and '.join(given)} are given. Expected one way to split. Leave out the others."
        )
    if split_time is not None:
        return "time"
    return split_by or ("system" if split is not None else "")
