"""Reading the daily reports: a folder of one CSV per day, or one CSV of all days.

Column names changed during 2020; both are read. A state without a row on a day has no values
then, and rows of the District of Columbia, the territories and ships are passed over.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from jaxtyping import Float

from pgode.data.files.covid.states import PLACE, STATES
from pgode.runtime.errors import InputError
from pgode.runtime.reading import read_text

LARGEST = 2**26
"""Bytes of a file."""
FIRST = date(2020, 4, 12)
"""The first day for which there is a report."""
MOST_DAYS = 36_525
"""A century; a later day is a slip."""
COLUMNS = (
    *("confirmed", "deaths", "recovered"),
    *("incident_rate", "mortality_rate", "testing_rate", "lat", "lon"),
)
"""What is read of each state and day."""
ALIASES = {
    "province_state": "state",
    "long_": "lon",
    "case_fatality_ratio": "mortality_rate",
    "incidence_rate": "incident_rate",
}
"""Names of columns in some reports, in lower case, and what they are called here."""
Row = Mapping[str, str]


@dataclass(frozen=True)
class Reports:
    """All values of all days: counts since the beginning, and rates; NaN where there is none."""

    first: date
    values: Float[np.ndarray, "day state column"]
    source: str
    vintage: str
    """The day the files were written or fetched: later ones hold revised numbers."""

    @property
    def last(self) -> date:
        """The last day."""
        return self.first + timedelta(days=len(self.values) - 1)

    @property
    def hash(self) -> str:
        """SHA-256 of the values that were read, which tells one vintage from another."""
        content = np.where(np.isnan(self.values), -1.0, self.values).round(6)
        return hashlib.sha256(content.tobytes()).hexdigest()

    def column(self, name: str) -> Float[np.ndarray, "day state"]:
        """One column of all days."""
        return np.asarray(self.values[:, :, COLUMNS.index(name)])


def report_name(day: date) -> str:
    """The name of a day's file."""
    return f"{day:%m-%d-%Y}.csv"


def days_until(until: date) -> list[date]:
    """All days from the first report on."""
    if (until - FIRST).days > MOST_DAYS:
        raise InputError(
            f"reports until {until} were asked for, {(until - FIRST).days} days. Expected a day "
            f"within {MOST_DAYS} days of the first report, {FIRST}. Correct --until."
        )
    return [FIRST + timedelta(days=n) for n in range((until - FIRST).days + 1)]


def read_source(source: Path, until: date) -> Reports:
    """The reports in a folder of daily files, or in one file of all days, up to a day."""
    if source.is_dir():
        return _read_folder(source, until)
    if not source.exists():
        raise InputError(
            f"cannot read {source}: there is no such file or folder. Expected a folder of daily "
            f"reports named {report_name(FIRST)} and so on, or one CSV file with all days. Check "
            f"the path given with --source, or leave it out to download the reports."
        )
    return _read_file(source, until)


def _read_folder(folder: Path, until: date) -> Reports:
    days = days_until(until)
    files = [folder / report_name(day) for day in days]
    missing = [file.name for file in files if not file.exists()]
    if len(missing) == len(files):
        raise InputError(
            f"{folder} holds no daily report from {FIRST} to {until}. Expected one CSV file per "
            f"day, named {report_name(FIRST)} and so on. Choose the folder of the daily reports "
            f"of US states with --source, or leave it out to download them."
        )
    if missing:
        raise InputError(
            f"{folder} has no report {missing[0]}{_and_more(missing)}. Expected one for every day "
            f"from {FIRST} to {until}, since counts are differences between days. Add the file, or "
            f"end earlier with --until."
        )
    values = np.full((len(days), len(STATES), len(COLUMNS)), np.nan)
    for number, file in enumerate(files):
        seen: set[str] = set()
        for line, row in _rows(file):
            _enter(values[number], row, seen, f"line {line} of {file}")
    vintage = max(file.stat().st_mtime for file in files)
    return Reports(FIRST, values, folder.name, date.fromtimestamp(vintage).isoformat())


def _read_file(file: Path, until: date) -> Reports:
    days = days_until(until)
    values = np.full((len(days), len(STATES), len(COLUMNS)), np.nan)
    seen: dict[date, set[str]] = {}
    for line, row in _rows(file, "date"):
        place = f"line {line} of {file}"
        try:
            day = date.fromisoformat(row["date"].strip())
        except ValueError:
            raise InputError(
                f'{place} has the date "{row["date"]}". Expected one such as 2020-04-12. Correct '
                f"the line."
            ) from None
        if FIRST <= day <= until:
            _enter(values[(day - FIRST).days], row, seen.setdefault(day, set()), place)
    missing = [day.isoformat() for day in days if not seen.get(day)]
    if missing:
        raise InputError(
            f"{file} has no row for {missing[0]}{_and_more(missing)}. Expected every day from "
            f"{FIRST} to {until}, since counts are differences between days. Add the rows, or end "
            f"earlier with --until."
        )
    vintage = date.fromtimestamp(file.stat().st_mtime).isoformat()
    return Reports(FIRST, values, file.name, vintage)


def _rows(file: Path, *more: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, row) of a file, with the names of columns as they are here."""
    try:
        text = read_text(file, limit=LARGEST, expected="a daily report of US states")
        with io.StringIO(text, newline="") as opened:
            reader = csv.reader(opened)
            header = [_name(text) for text in next(reader, [])]
            needed = (*more, "state", *COLUMNS)
            lacking = [name for name in needed if name not in header]
            if lacking:
                raise InputError(
                    f"{file} has no column {', '.join(lacking)}; it has "
                    f"{', '.join(header)[:200] or 'none'}. Expected a daily report of US states: "
                    f"{', '.join(needed)}, or their names in the published files. Fetch the file "
                    f"again."
                )
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise InputError(
                        f"line {reader.line_num} of {file} has {len(cells)} cells. Expected "
                        f"{len(header)}, as in its first line. Fetch the file again."
                    )
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"cannot read {file}: {error}. Expected text in UTF-8 with cells divided by commas. "
            f"Fetch the file again."
        ) from None


def _name(text: str) -> str:
    plain = text.strip().lower()
    return ALIASES.get(plain, plain)


def _enter(values: Float[np.ndarray, "state column"], row: Row, seen: set[str], place: str) -> None:
    """Enter a row of one day, unless it is of no state."""
    state = row["state"].strip()
    if state not in PLACE:
        return
    if state in seen:
        raise InputError(
            f"{place} is a second row of {state} on the same day. Expected one. Remove the other."
        )
    seen.add(state)
    values[PLACE[state]] = [_number(row[column], column, place) for column in COLUMNS]


def _number(text: str, column: str, place: str) -> float:
    """A cell as a number; NaN if it is empty."""
    if not text.strip():
        return np.nan
    try:
        value = float(text)
        if np.isfinite(value):
            return value
    except ValueError:
        pass
    raise InputError(
        f'{place} has "{text[:40]}" as {column}. Expected a number, or nothing where it is '
        f"unknown. Correct the cell, or fetch the file again."
    )


def _and_more(missing: Iterable[str]) -> str:
    count = len(list(missing)) - 1
    return f" (nor {count} others)" if count else ""
