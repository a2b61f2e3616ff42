"""Tables of observed systems, read as the table that a run was trained on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pgode.data.files.table import TableRecipe, from_frame, recipe_of
from pgode.data.files.table.reading.choice import named
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.series.dates import read_times
from pgode.data.files.table.wide import to_long
from pgode.data.labels.calendar import CALENDAR, SECONDS
from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

LISTED = 5
"""Objects that a sentence lists."""


def table_recipe(record: DataRecord, source: str) -> TableRecipe:
    """How the table that a run was trained on was read; an error if it was none."""
    recipe = recipe_of(record.generator, record.generator_settings)
    if recipe is None:
        trained = record.generator or record.source or "arrays"
        raise InputError(
            f"{source} is a table, but the run was not trained on one (its data: {trained}), so it "
            f"does not say what the columns mean. Expected data. Import the table first, such as "
            f"with pgode import table TABLE -o data.nc --object NAME --time NAME --features A,B."
        )
    return recipe


def from_observed_frame(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    condition: int,
    source: str,
    on_note: Callable[[str], None] = lambda text: None,
) -> Trajectories:
    """The last frames of every system of a table, with velocities, inputs and edges as in training.

    Last rows that have known inputs and no states are future frames. Objects that were not seen
    during the condition have left; they are not forecast, and `on_note` is told so.
    """
    if recipe.wide:
        frame, recipe = to_long(frame, recipe, source)
    frame = named(frame, recipe, source)
    _check_columns(frame, recipe, source)
    if frame.empty:
        raise InputError(
            f"{source} has no rows. Expected one row per object and time. Check how the table was "
            f"selected."
        )
    recent = _recent(frame, recipe, condition, source, on_note)
    return from_frame(recent, recipe, source, forecasting=True)


def _recent(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    condition: int,
    source: str,
    on_note: Callable[[str], None],
) -> "pd.DataFrame":
    """The rows that matter to a forecast: a long recording has far more objects and frames."""
    import pandas as pd

    clock = read_times(frame, recipe, Places(frame, source))
    if bool(clock.origin) != recipe.dated:
        given, trained = ("dates", "numbers") if clock.origin else ("numbers", "dates")
        raise InputError(
            f'the column "{recipe.time}" of {source} holds {given}, but {trained} in the table '
            f"that the run was trained on. Expected {trained}. Convert the column."
        )
    seconds = SECONDS[recipe.time_units] if clock.origin and recipe.time_units in SECONDS else 1.0
    times, step = clock.values, recipe.step * seconds
    seen = frame[list(recipe.features)].notna().any(axis=1).to_numpy()
    by_system = recipe.system and recipe.system in frame.columns
    system = pd.factorize(frame[recipe.system])[0] if by_system else np.zeros(len(frame), np.int64)
    unseen = np.zeros(len(frame), dtype=bool)
    first, needed = np.full(len(frame), -np.inf), np.full(len(frame), -np.inf)
    for rows in pd.Series(np.arange(len(frame))).groupby(system).indices.values():
        past = np.unique(times[rows[seen[rows]]])
        unseen[rows] = not len(past)
        for starts, frames in ((first, condition), (needed, condition + recipe.velocities)):
            if len(past) and step:
                starts[rows] = past[-1] - (frames - 0.5) * step
            elif len(past) >= frames:
                starts[rows] = past[-frames]
    pair = pd.factorize(pd.MultiIndex.from_arrays([system, frame[recipe.object]]))[0]
    here = np.zeros(pair.max(initial=-1) + 1, dtype=bool)
    here[pair[unseen | (seen & (times >= first))]] = True
    gone = frame.loc[~here[pair], recipe.object].astype(str).unique()
    if len(gone):
        names = ", ".join(gone[:LISTED]) + (", ..." if len(gone) > LISTED else "")
        on_note(
            f"left out, since not seen in the last {condition} frames of {source}: {len(gone)} "
            f"object{'s' * (len(gone) != 1)} ({names})"
        )
    if recipe.static:  # A constant may stand in the first row of an object alone.
        known = frame[list(recipe.static)].groupby(pair).transform("first")
        frame = frame.assign(**{name: known[name] for name in recipe.static})
    return frame[here[pair] & (times >= needed)]


def _check_columns(frame: "pd.DataFrame", recipe: TableRecipe, source: str) -> None:
    """Refuse a table without a column that the run needs, with all that it needs."""
    given = [str(name) for name in frame.columns]
    needed = {
        "object": [recipe.object],
        "time": [recipe.time],
        "features": list(recipe.features),
        "constants": list(recipe.static),
        "known inputs": [name for name in recipe.known if name not in CALENDAR],
    }
    for what, names in needed.items():
        for name in names:
            if name not in given:
                expected = "; ".join(f"{k}: {', '.join(v)}" for k, v in needed.items() if v)
                advice = did_you_mean(name, given) or "Add the column, or rename the one meant."
                raise InputError(
                    f'{source} has no column "{name}" ({what}); it has {", ".join(given[:12])}. '
                    f"Expected the columns that the run was trained on: {expected}. {advice}"
                )
