"""Columns of a table as numbers, names and categories; a wrong cell is an error with its row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Int

from pgode.data.files.table.reading.places import Places
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 60
"""More different texts than this are no categories but names, or numbers with a slip."""

Numbers = Float[np.ndarray, " row"]
Codes = Int[np.ndarray, " row"]


def numbers(frame: "pd.DataFrame", name: str, places: Places) -> Numbers:
    """A column of numbers; NaN where a cell is empty."""
    series = frame[name]
    if series.dtype.kind in "iufb":
        values: Numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif series.dtype.kind in "mM":
        raise places.error(0, name, series.iloc[0], "numbers", "Leave the column out.")
    else:
        values, wrong = _parsed(series)
        for row in np.flatnonzero(wrong)[:1]:
            raise _no_number(places, row, name, str(series.iloc[row]))
    for row in np.flatnonzero(np.isinf(values))[:1]:
        raise places.error(
            row, name, values[row], "a finite number", "Leave the cell empty if it is unknown."
        )
    return values


def is_text(series: "pd.Series[Any]") -> bool:
    """Whether a column holds texts that are not all numbers."""
    if series.dtype.kind in "iufbmM":
        return False
    return bool(_parsed(series)[1].any())


def names(frame: "pd.DataFrame", column: str, what: str, places: Places) -> tuple[Codes, list[str]]:
    """A number for each different name, in order of first appearance, and the names."""
    import pandas as pd

    codes, unique = pd.factorize(frame[column])
    for row in np.flatnonzero(codes < 0)[:1]:
        raise InputError(
            f'{places.of(int(row))} has no {what}: its column "{column}" is empty, or holds a word '
            f"such as NA that means a missing value. Expected a name or a number in every row. "
            f"Fill it in or drop the row."
        )
    found = [label(each) for each in unique]
    if len(set(found)) == len(found):
        return codes.astype(np.int64), found
    place, merged = pd.factorize(np.array(found, dtype=object))  # such as 1 and "1"
    return place[codes].astype(np.int64), [str(each) for each in merged]


def label(value: Any) -> str:
    """An id as text: 7.0 is 7, as a file says it; dates lose an empty time of day."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).removesuffix(" 00:00:00")


@dataclass(frozen=True)
class Column:
    """A column as numbers: itself, or one column of 0 and 1 for each of its categories."""

    names: tuple[str, ...]
    values: Float[np.ndarray, "row name"]
    categories: tuple[str, ...] = ()


def numbers_or_categories(
    frame: "pd.DataFrame", name: str, fixed: Sequence[str] | None, places: Places
) -> Column:
    """A column of numbers, or of categories, which become one column each, such as team=red.

    `fixed` lists the categories that a model knows: empty for numbers, None if it is open.
    """
    import pandas as pd

    series = frame[name]
    declared = isinstance(series.dtype, pd.CategoricalDtype)
    texts = bool(fixed) or (fixed is None and (declared or is_text(series)))
    if not texts:
        return Column((name,), numbers(frame, name, places)[:, None])
    if fixed is None and not declared:
        values, wrong = _parsed(series)
        if np.isfinite(values).sum() > wrong.sum():
            row = np.flatnonzero(wrong)[0]
            raise _no_number(places, row, name, str(series.iloc[row]))
    codes, unique = pd.factorize(series)
    found = np.array([label(each) for each in unique], dtype=object)
    categories = tuple(fixed) if fixed else tuple(sorted(set(found)))
    if len(categories) > MOST_CATEGORIES:
        raise InputError(
            f'the column "{name}" of {places.source} has {len(categories)} different texts, such '
            f'as "{categories[0]}" and "{categories[1]}". Expected numbers, or at most '
            f"{MOST_CATEGORIES} categories. Group the categories, or leave the column out."
        )
    known = {each: k for k, each in enumerate(categories)}
    number = np.array([known.get(each, -1) for each in found] + [-1], dtype=np.int64)
    for row in np.flatnonzero((number[codes] < 0) & (codes >= 0))[:1]:
        expected = f"one of the categories {', '.join(categories)}, which the model has seen"
        raise places.error(row, name, found[codes[row]], expected, "Correct it.")
    values = (number[codes][:, None] == np.arange(len(categories))).astype(np.float64)
    values[codes < 0] = np.nan
    return Column(tuple(f"{name}={each}" for each in categories), values, categories)


def _parsed(series: "pd.Series[Any]") -> tuple[Numbers, Any]:
    """Texts as numbers, and which of them are none although they are not empty."""
    import pandas as pd

    values = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isnan(values) & series.notna().to_numpy()
    if wrong.any():
        rows = np.flatnonzero(wrong)
        texts = series.iloc[rows].astype(str).str.strip().str.lower().to_numpy(dtype=object)
        wrong[rows[(texts == "") | (texts == "nan")]] = False
    return values, wrong


def _no_number(places: Places, row: int, name: str, text: str) -> InputError:
    bare = text.strip()
    fix = "Correct the cell, or leave it empty if the value is unknown."
    if _number(bare.replace(",", ".", 1)) and bare.count(",") == 1 and "." not in bare:
        fix = "Numbers with a decimal comma are read with --decimal comma."
    elif _number(bare.replace(",", "")):
        fix = "Remove the separators of thousands."
    elif len(words := bare.split()) == 2 and _number(words[0]):
        fix = f"Remove the unit from the cells and give it as --units {name}:{words[1]}."
    return places.error(row, name, text, "a number", fix)


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
