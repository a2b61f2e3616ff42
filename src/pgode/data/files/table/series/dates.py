"""Times of a table: numbers, or dates of one form that can be read in one way only."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Shaped

from pgode.data.files.table.columns import numbers
from pgode.data.files.table.reading.places import Places
from pgode.data.files.table.recipe import TableRecipe
from pgode.data.labels.calendar import SECONDS
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ISO = re.compile(r"\d{4}-\d{1,2}(-\d{1,2}([T ].*)?)?")
PARTED = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b.*")
COMPACT = (19000101, 21991231)
"""Whole numbers in this range that are all dates when read as YYYYMMDD are taken for dates."""


@dataclass(frozen=True)
class Times:
    """The time of each row: in the table's unit, or as seconds since `origin` if it is a date."""

    values: Float[np.ndarray, " row"]
    origin: str = ""


def read_times(frame: "pd.DataFrame", recipe: TableRecipe, places: Places) -> Times:
    """The times of all rows; an empty cell or a wrong date is an error with its row."""
    import pandas as pd

    name, series = recipe.time, frame[recipe.time]
    for row in np.flatnonzero(series.isna().to_numpy())[:1]:
        raise InputError(
            f'{places.of(int(row))} has no time: its column "{name}" is empty. Expected a number '
            f"or a date in every row. Fill it in or drop the row."
        )
    if series.dtype.kind == "M":
        return _since_first(_without_zone(series).to_numpy().astype("datetime64[ms]"))
    codes, unique = pd.factorize(series)
    if series.dtype.kind in "iuf" and not recipe.date_format:
        compact = None if recipe.time_units and not recipe.dated else _compact(unique)
        if compact is not None:
            return _since_first(compact[codes])
        if not recipe.dated:
            return Times(numbers(frame, name, places))
    texts = np.array([str(each).strip() for each in unique], dtype=object)
    first_row = np.full(len(unique), len(codes))
    np.minimum.at(first_row, codes, np.arange(len(codes)))
    values = pd.to_numeric(pd.Series(texts), errors="coerce").to_numpy(dtype=np.float64)
    if not recipe.date_format and not recipe.dated and np.isfinite(values[:1]).all():
        for k in np.flatnonzero(~np.isfinite(values))[:1]:
            expected = f'a number, as "{texts[0]}" before it'
            raise places.error(first_row[k], name, texts[k], expected, "Correct the time.")
        return Times(values[codes])
    return _since_first(_parsed(texts, recipe, first_row, places)[codes])


def unit_of(step: float) -> str:
    """The largest unit that a step, in seconds, is at least as long as; months count as days."""
    fitting = [unit for unit, seconds in SECONDS.items() if seconds <= step * (1 + 1e-9)]
    return next((u for u in reversed(fitting) if u != "weeks"), "milliseconds")


def _since_first(when: Shaped[np.ndarray, " row"]) -> Times:
    start = when.min()
    return Times((when - start).astype(np.int64) / 1000.0, str(start))


def _without_zone(series: Any) -> Any:
    zone = getattr(series.dt, "tz", None)
    return series if zone is None else series.dt.tz_convert("UTC").dt.tz_localize(None)


def _compact(unique: Any) -> Shaped[np.ndarray, " unique"] | None:
    """Dates written as whole numbers, such as 20200412; None if these are plain numbers."""
    import pandas as pd

    values = np.asarray(unique, dtype=np.float64)
    if len(values) < 2 or not ((values >= COMPACT[0]) & (values <= COMPACT[1])).all():
        return None
    whole = pd.Series(values.astype(np.int64).astype(str))
    parsed = pd.to_datetime(whole, format="%Y%m%d", errors="coerce")
    if (values % 1 != 0).any() or parsed.isna().any():
        return None
    return np.asarray(parsed.to_numpy().astype("datetime64[ms]"))


def _parsed(
    texts: Shaped[np.ndarray, " unique"], recipe: TableRecipe, first_row: Any, places: Places
) -> Shaped[np.ndarray, " unique"]:
    """Dates of texts, all in the form of the first one."""
    import pandas as pd

    form = recipe.date_format or _form(texts, recipe, first_row, places)
    try:
        parsed = pd.to_datetime(pd.Series(texts), format=form, errors="coerce", utc=True)
    except ValueError:
        raise InputError(
            f'the form "{form}" of dates is not known. Expected letters such as %d/%m/%Y. Correct '
            f"--date-format."
        ) from None
    for k in np.flatnonzero(parsed.isna().to_numpy())[:1]:
        shown = "YYYY-MM-DD" if form == "ISO8601" else form
        raise places.error(
            first_row[k],
            recipe.time,
            texts[k],
            f'a date in the form {shown}, as "{texts[0]}"' if k else f"a date in the form {shown}",
            "Correct it, or give the form of all dates with --date-format.",
        )
    return np.asarray(_without_zone(parsed).to_numpy().astype("datetime64[ms]"))


def _form(texts: Any, recipe: TableRecipe, first_row: Any, places: Places) -> str:
    """The form of dates, if there is only one way to read them."""
    from pandas.tseries.api import guess_datetime_format

    if ISO.fullmatch(texts[0]):
        return "ISO8601"
    example, found = texts[0], [PARTED.fullmatch(text) for text in texts]
    if found[0]:
        parts = np.array([[int(m[1]), int(m[2])] if m else [0, 0] for m in found])
        telling = np.flatnonzero((parts > 12).any(axis=1))
        if not len(telling):
            raise places.error(
                first_row[0],
                recipe.time,
                texts[0],
                "dates that can be read in one way only, but no day is after the 12th",
                "Give their form, such as --date-format %d/%m/%Y or %m/%d/%Y.",
            )
        example = texts[telling[0]]
    guessed = guess_datetime_format(example, dayfirst=bool(found[0]) and _day_first(example))
    if guessed is None:
        raise places.error(
            first_row[0],
            recipe.time,
            texts[0],
            "a number, or a date such as 2020-04-12 or 2020-04-12T06:00",
            "Correct it, or give the form of all dates with --date-format.",
        )
    return str(guessed)


def _day_first(text: str) -> bool:
    match = PARTED.fullmatch(text)
    return match is not None and int(match[1]) > 12
