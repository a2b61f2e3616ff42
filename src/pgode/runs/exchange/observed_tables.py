"""Tables of observed systems, read as the table that a run was trained on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pgode.data.files.table import TableRecipe, from_frame, recipe_of
from pgode.data.files.table.reading.choice import named
from pgode.data.files.table.wide import to_long
from pgode.data.labels.calendar import CALENDAR
from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runs.exchange.recent_rows import recent_rows
from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


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
    recent = recent_rows(frame, recipe, condition, source, on_note)
    return from_frame(recent, recipe, source, forecasting=True)


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
