"""The rows of a table that matter to a forecast.

A long recording has far more frames than the condition, and far more objects than are there at its
end. Of an object that has left nothing can be forecast, and it must not count as a neighbour.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from pgode.data.files.table import TableRecipe
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.series.dates import Times, read_times
from pgode.data.labels.calendar import SECONDS
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

LISTED = 5
"""Objects that a sentence lists."""
NEAR = 0.25
"""Times this near, in steps, belong to one frame."""


def recent_rows(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    condition: int,
    source: str,
    on_note: Callable[[str], None],
) -> "pd.DataFrame":
    """Rows of the last `condition` frames of each system, of objects that were seen in them.

    Derived velocities need as many frames before them as their filter has. Later rows, without
    states, are kept. `on_note` is told which objects have left.
    """
    import pandas as pd

    clock = read_times(frame, recipe, Places(frame, source))
    _check_clock(clock, recipe, source)
    seconds = SECONDS[recipe.time_units] if clock.origin else 1.0
    times, step, near = clock.values, recipe.step * seconds, NEAR * recipe.step * seconds
    seen = frame[list(recipe.features)].notna().any(axis=1).to_numpy()
    by_system = recipe.system and recipe.system in frame.columns
    system = pd.factorize(frame[recipe.system])[0] if by_system else np.zeros(len(frame), np.int64)
    pair = pd.factorize(pd.MultiIndex.from_arrays([system, frame[recipe.object]]))[0]
    here = np.zeros(pair.max() + 1, dtype=bool)
    kept, fillers = np.zeros(len(frame), dtype=bool), []
    for rows in pd.Series(np.arange(len(frame))).groupby(system).indices.values():
        past = np.unique(times[rows[seen[rows]]])
        if not len(past):  # Refused later, with the name of the system.
            here[pair[rows]] = kept[rows] = True
            continue
        first = _start(past, condition, step)
        here[pair[rows[seen[rows] & (times[rows] >= first - near)]]] = True
        mine = rows[here[pair[rows]]]
        enough = _start(past, condition + recipe.velocities, step)
        earlier = times[mine][times[mine] <= enough + near]
        kept[mine[times[mine] >= earlier.max(initial=-np.inf)]] = True
        before = rows[times[rows] <= first + near]
        if times[mine].min() > first + near and len(before):
            fillers.append((mine[0], before[np.argmax(times[before])]))
    _note_those_gone(frame, recipe, ~here[pair], condition, source, on_note)
    if recipe.static:  # A constant may stand in the first row of an object alone.
        known = frame[list(recipe.static)].groupby(pair).transform("first")
        frame = frame.assign(**{name: known[name] for name in recipe.static})
    recent = pd.concat([frame[kept], _filled(frame, recipe, fillers)]) if fillers else frame[kept]
    recent.attrs = dict(frame.attrs)
    return recent


def _start(past: Float[np.ndarray, " time"], frames: int, step: float) -> float:
    """The time of the first of the last `frames` frames; the times of observations are `past`."""
    if step:
        return float(past[-1] - (frames - 1) * step)
    return float(past[-frames]) if len(past) >= frames else -np.inf


def _filled(
    frame: "pd.DataFrame", recipe: TableRecipe, fillers: list[tuple[int, int]]
) -> "pd.DataFrame":
    """Rows without states, so that a system whose objects are all new keeps its earlier frames.

    A filler is a row of an object that is there, and a row with the time that it gets.
    """
    owners, moments = (list(each) for each in zip(*fillers, strict=True))
    rows = frame.iloc[owners].copy()
    rows[recipe.time] = frame[recipe.time].iloc[moments].to_numpy()
    rows[list(recipe.features)] = np.nan
    return rows


def _check_clock(clock: Times, recipe: TableRecipe, source: str) -> None:
    if bool(clock.origin) == recipe.dated:
        return
    given, trained = ("dates", "numbers") if clock.origin else ("numbers", "dates")
    raise InputError(
        f'the column "{recipe.time}" of {source} holds {given}, but {trained} in the table that '
        f"the run was trained on. Expected {trained}. Convert the column."
    )


def _note_those_gone(
    frame: "pd.DataFrame",
    recipe: TableRecipe,
    gone: Int[np.ndarray, " row"],
    condition: int,
    source: str,
    on_note: Callable[[str], None],
) -> None:
    names = frame.loc[gone, recipe.object].astype(str).unique()
    if len(names):
        listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
        on_note(
            f"left out, since not seen in the last {condition} frames of {source}: {len(names)} "
            f"object{'s' * (len(names) != 1)} ({listed})"
        )
