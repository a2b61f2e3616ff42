"""Where a row of a table stands, as a person finds it: its line in a file, or its number."""

from typing import TYPE_CHECKING, Any

from pgode.runtime.choices import did_you_mean
from pgode.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

PARTS = "pgode_parts"
"""Attribute of a frame that was read from text: (file, first row) of each file it consists of.

The index of such a frame counts the lines of the file, so that it survives dropped rows.
"""
LISTED = 12
"""Most columns that an error lists."""


def line_numbers(frame: "pd.DataFrame", path: str, first: int) -> "pd.DataFrame":
    """The frame with the line of the file as its index; `first` is the line of the first row."""
    import pandas as pd

    frame.index = pd.RangeIndex(first, first + len(frame))
    frame.attrs[PARTS] = [(path, 0)]
    return frame


class Places:
    """The places of the rows of a frame, and errors that name them."""

    def __init__(self, frame: "pd.DataFrame", source: str) -> None:
        self.source = source
        self._parts: list[tuple[str, int]] = frame.attrs.get(PARTS, [])
        self._index = frame.index

    def of(self, row: int) -> str:
        """The place of a row, counted from 0, in words."""
        if not self._parts:
            return f"row {row + 1} of {self.source}"
        name = next(path for path, first in reversed(self._parts) if row >= first)
        return f"line {self._index[row]} of {name}"

    def error(self, row: int, column: str, found: Any, expected: str, fix: str) -> InputError:
        """The error for one cell."""
        text = str(found)
        text = text if len(text) <= 40 else f"{text[:37]}..."
        return InputError(
            f'{self.of(int(row))} has "{text}" in the column "{column}". Expected {expected}. {fix}'
        )


def check_column(frame: "pd.DataFrame", name: str, option: str, source: str) -> None:
    """Refuse a column that is not there, with the most similar one that is."""
    names = [str(each) for each in frame.columns]
    if name in names:
        return
    listed = ", ".join(names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    advice = did_you_mean(name, names) or f"Correct {option}."
    if len(names) == 1:
        advice = "Give --delimiter if the columns are separated by something else. " + advice
    raise InputError(
        f'{source} has no column "{name}" ({option}); it has {listed}. Expected the name of one '
        f"of its columns. {advice}"
    )
