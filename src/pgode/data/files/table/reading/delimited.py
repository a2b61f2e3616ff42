"""Delimited text as a pandas frame; whatever is wrong with it is an error with its line."""

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from pgode.data.files.table.reading.places import line_numbers
from pgode.runtime.errors import InputError
from pgode.runtime.memory import size_text
from pgode.runtime.reading import open_file

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "space": " ", "pipe": "|"}
"""Names of delimiters, for those that a shell makes hard to write."""
HEAD = 2**22
"""Bytes that are looked at to find the form of a file: no first line is longer."""
MOST_COLUMNS = 20_000
LINE = 2**26
"""Bytes of the longest line."""
UNPACKED, PACKED = 2**28, 100
"""Bytes that any packed text may unpack to, and times its size if that is more."""
CHECKED = 10_000
"""Rows with an empty last cell of which the fields are counted."""


@dataclass(frozen=True)
class Form:
    """The delimiter, the names of the columns, and the line of the first row."""

    delimiter: str
    names: tuple[str, ...]
    first_line: int


def read(path: Path, delimiter: str | None, header: bool, decimal: str) -> "pd.DataFrame":
    """Read delimited text, its index counting lines. A delimiter of None is found out."""
    import pandas as pd

    form = _form(path, delimiter, header)
    try:
        _check_size(path)
        with open_bytes(path) as opened, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                opened,
                sep=r"\s+" if form.delimiter == " " else form.delimiter,
                header=None,
                names=list(form.names),
                skiprows=form.first_line - 1,
                index_col=False,
                encoding="utf-8-sig",
                skip_blank_lines=False,  # So that rows and lines keep in step.
                skipinitialspace=True,
                decimal=decimal,
                low_memory=False,
            )
    except pd.errors.ParserWarning:
        raise _ragged(path, form, range(form.first_line, form.first_line + CHECKED)) from None
    except pd.errors.EmptyDataError:
        raise _no_rows(path) from None
    except pd.errors.ParserError as error:
        raise _untidy(path, form, str(error)) from None
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    except InputError:
        raise
    # Packed text that is damaged, and cells that no number can hold, are of many types.
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"cannot read {path}: {reason}. Expected a text file. Check the file."
        ) from None
    frame = line_numbers(frame, str(path), form.first_line)
    empty = frame.iloc[:, -1].isna().to_numpy()
    if empty.any():
        blank = frame.isna().all(axis=1).to_numpy() if len(form.names) > 1 else empty
        lines = frame.index[empty & ~blank][:CHECKED]
        if len(lines) and len(form.names) > 1:
            _check_fields(path, form, [int(line) for line in lines])
        frame = frame[~blank] if blank.any() else frame
    if not len(frame):
        raise _no_rows(path)
    return frame


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of a file, of which `.gz` is unpacked."""
    file = open_file(path, expected="a text file with columns")
    if path.suffix != ".gz":
        return cast(IO[bytes], file)
    unpacked = gzip.GzipFile(fileobj=file)
    unpacked.myfileobj = cast(io.FileIO, file)  # So that it is closed, too.
    return cast(IO[bytes], unpacked)


def _check_size(path: Path) -> None:
    """Refuse packed text that is unpacked to far more than its size, and lines without an end."""
    found, most = path.stat().st_size, path.stat().st_size
    if path.suffix == ".gz":
        most = max(UNPACKED, PACKED * found)
    elif found < LINE:
        return
    size = line = 0
    with open_bytes(path) as file:
        while block := file.read(2**20):
            size += len(block)
            first, last = block.find(b"\n"), block.rfind(b"\n")
            if line + (first if first >= 0 else len(block)) > LINE:
                raise _too_many(path, f"a line of more than {LINE // 2**20} MB")
            line = len(block) - last - 1 if last >= 0 else line + len(block)
            if size > most:
                raise InputError(
                    f"cannot read {path}: it unpacks to more than {size_text(most)}, but has "
                    f"{size_text(found)}. Expected at most {PACKED} times as much. Unpack it "
                    f"yourself if that is right, and give the text."
                )


def _form(path: Path, delimiter: str | None, header: bool) -> Form:
    try:
        with open_bytes(path) as file:
            head = file.read(HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}. Expected a text "
            f"file with columns. Check the path."
        ) from None
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise InputError(
            f"{path} is empty. Expected a table with one row per object and time. Check the path."
        )
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise _not_utf8(path)
    if b"\0" in head[:65536]:
        raise InputError(
            f"{path} is not text: it has bytes that no text has. Expected delimited text, such as "
            f"CSV, or a Parquet file named .parquet. Export the table as CSV."
        )
    lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(lines) == 1 and len(head) == HEAD:
        raise _too_many(path, f"a first line of more than {HEAD // 2**20} MB")
    start = next(number for number, line in enumerate(lines) if line.strip())
    try:
        first, *rest = (line.decode() for line in lines[start : start + 50] if line.strip())
    except UnicodeDecodeError:
        raise _not_utf8(path) from None
    found = _delimiter(path, first, rest[:-1] or rest, delimiter)
    cells = _cells(first, found)
    if len(cells) > MOST_COLUMNS:
        raise _too_many(path, f"{len(cells)} columns")
    if not header:
        return Form(found, tuple(f"column {k}" for k in range(1, len(cells) + 1)), start + 1)
    names = tuple(cell.strip() or f"column {k}" for k, cell in enumerate(cells, start=1))
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if seen.setdefault(name, k) != k:
            raise InputError(
                f"line {start + 1} of {path} names the columns {seen[name] + 1} and {k + 1} "
                f'both "{name}". Expected different names. Rename one.'
            )
    return Form(found, names, start + 2)


def _delimiter(path: Path, first: str, rest: list[str], given: str | None) -> str:
    """The delimiter given, by name or itself, or else the one that cuts all lines alike."""
    if given:
        meant = DELIMITERS.get(given, "\t" if given == "\\t" else given)
        if meant not in DELIMITERS.values():
            raise InputError(
                f'the delimiter "{given}" is not known. Expected one of {", ".join(DELIMITERS)}, '
                f"or the character itself. Correct --delimiter."
            )
        return meant
    if path.name.removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    best, most = ",", 1
    for candidate in (",", "\t", ";", "|", " "):
        fields = len(_cells(first, candidate))
        alike = all(len(_cells(line, candidate)) == fields for line in rest[:20])
        if fields > most and (alike or most == 1):
            best, most = candidate, fields
            if alike:
                break
    return best


def _cells(line: str, delimiter: str) -> list[str]:
    line = line.rstrip("\r\n")
    if delimiter == " ":
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open_bytes(path) as file:
        yield from enumerate(file, start=1)


def _check_fields(path: Path, form: Form, lines: list[int]) -> None:
    """pandas takes a line that is too short for one with empty cells at its end; we do not."""
    wanted, last, open_quote = set(lines), lines[-1], False
    for number, line in _lines(path):
        open_quote ^= line.count(b'"') % 2 == 1
        if open_quote or number > last:
            return  # Text with line breaks in quotes: rows and lines are out of step from here.
        if number in wanted:
            fields = len(_cells(line.decode(errors="replace"), form.delimiter))
            if fields < len(form.names):
                raise _fields(path, number, fields, form)


def _ragged(path: Path, form: Form, lines: range) -> InputError:
    """The first line with more fields than there are columns."""
    for number, line in _lines(path):
        fields = len(_cells(line.decode(errors="replace"), form.delimiter))
        if number in lines and fields > len(form.names):
            return _fields(path, number, fields, form)
    return _fields(path, form.first_line, len(form.names) + 1, form)


def _fields(path: Path, line: int, fields: int, form: Form) -> InputError:
    return InputError(
        f"line {line} of {path} has {fields} fields, but there are {len(form.names)} columns "
        f'(the last is "{form.names[-1]}"). Expected as many fields as columns, with nothing '
        f"between two delimiters where a value is missing. Correct the line, or give the delimiter "
        f"with --delimiter."
    )


def _untidy(path: Path, form: Form, message: str) -> InputError:
    """What the parser of pandas says, in our words."""
    if found := re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message):
        return _fields(path, int(found[2]), int(found[3]), form)
    if found := re.search(r"EOF inside string starting at row (\d+)", message):
        return InputError(
            f'line {int(found[1]) + 1} of {path} opens a quotation mark (") that is '
            f"never closed. Expected pairs of them. Close it, or remove it."
        )
    return InputError(
        f"cannot read {path} as delimited text: {' '.join(message.split())}. Expected one line per "
        f"row. Check the file."
    )


def _no_rows(path: Path) -> InputError:
    return InputError(
        f"{path} has no rows after line 1, its header. Expected one row per object and time. Check "
        f"how the table was exported; without a header, give --no-header and --columns."
    )


def _too_many(path: Path, what: str) -> InputError:
    return InputError(
        f"{path} has {what}. Expected at most {MOST_COLUMNS} columns. Turn the table into long "
        f"form, one row per object and time."
    )


def _not_utf8(path: Path) -> InputError:
    for number, line in _lines(path):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            return InputError(
                f"line {number} of {path} is not UTF-8: the byte 0x{byte:02x} in column "
                f"{error.start + 1} of the line. Expected UTF-8 text. Save the table as UTF-8."
            )
    return InputError(f"{path} is not UTF-8. Expected UTF-8 text. Save the table as UTF-8.")
