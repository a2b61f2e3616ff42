"""Parquet files that claim more than they can hold.

A value that repeats is stored once with its count, so that a kilobyte can stand for any number of
rows, and a text of a megabyte for a million of them. What the end of a file says of its columns
need not be true: the headers of their pages, by which memory is allocated, are read instead.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pgode.data.files.guard.claims import FREE, check_claim, check_table_memory, disk_size
from pgode.data.files.guard.tables.nested import leaves
from pgode.data.files.guard.tables.thrift import Reader
from pgode.runtime.reading import check_file, open_file

TEXT, FIXED = "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"
PLAIN, LENGTHS, PREFIXES = 0, 6, 7
"""Numbers of encodings of text: one after the other, their lengths first, and those that share what
they begin with. All others refer to a dictionary.
"""
ROWS = 2**16
"""Rows that are read at a time to count the bytes of texts."""
BATCH = 2**23
"""Bytes of texts that share prefixes which are read at a time: each may be as long as its page."""
HEADER = 2**12, 2**24
"""Bytes of the header of a page that are read at first, and at most."""


@dataclass
class _Column:
    """What the pages of a column say: values, bytes when unpacked, those of the largest page."""

    values: int = 0
    unpacked: int = 0
    largest: int = 0
    encodings: set[int] = field(default_factory=set)

    @property
    def repeats(self) -> bool:
        """Whether its texts may be longer than its pages."""
        return not self.encodings <= {PLAIN, LENGTHS}

    @property
    def refers(self) -> bool:
        """Whether Arrow can keep each different text once when it reads them."""
        return not self.encodings & {LENGTHS, PREFIXES}


def check_parquet(path: Path) -> None:
    """Refuse more rows or text than the file, or memory, can hold.

    Errors of the library are raised as they are, for damaged files.
    """
    from pyarrow import parquet

    size = disk_size(check_file(path))
    with open_file(path) as file, parquet.ParquetFile(file) as table:
        found, schema = table.metadata, table.metadata.schema
        groups = [found.row_group(number) for number in range(found.num_row_groups)]
        rows = max(found.num_rows, sum(group.num_rows for group in groups))
        check_claim(path, rows * found.num_columns * 8, size)
        _check_overlap(groups, path.stat().st_size)
        claimed, packed, at_once = 0, 0, ROWS
        texts: dict[str, bool] = {}
        for number in range(found.num_columns):
            column, kind = _Column(), schema.column(number)
            for group in groups:
                _add_pages(file, group.column(number), column)
                check_claim(path, max(column.values * 8, packed + column.unpacked), size)
            packed += column.unpacked
            width = kind.length if kind.physical_type == FIXED else 8
            claimed += max(rows, column.values) * max(8, width)
            if kind.physical_type == TEXT and column.repeats:
                texts[kind.path] = column.refers
                if not column.refers:
                    at_once = min(at_once, max(1, BATCH // max(1, column.largest)))
    claimed = max(claimed, packed)
    check_claim(path, claimed, size)
    if texts and rows * packed > FREE:
        claimed += _text_bytes(path, texts, at_once, size)
        check_claim(path, claimed, size)
    check_table_memory(path, claimed)


def _check_overlap(groups: list[Any], size: int) -> None:
    """Refuse parts that lie in the same bytes: reading all of them would never end."""
    parts = (group.column(number) for group in groups for number in range(group.num_columns))
    if sum(max(0, part.total_compressed_size) for part in parts) > size:
        raise ValueError("its columns have more bytes than the file")


def _add_pages(file: BinaryIO, chunk: Any, column: _Column) -> None:
    """Add the pages of a part of a column; only their headers are read."""
    if not chunk.num_values:
        return
    starts = (chunk.data_page_offset, chunk.dictionary_page_offset or 0)
    place = min(start for start in starts if start > 0)
    end = place + chunk.total_compressed_size
    while place < end:
        header, length = _header(file, place)
        unpacked, stored = header[2], header[3]
        if min(unpacked, stored) < 0:
            raise ValueError("a page has a negative size")
        content = header.get(5) or header.get(8) or {}
        column.values += content.get(1, 0)
        column.unpacked += unpacked
        column.largest = max(column.largest, unpacked)
        # The two kinds of pages have their encoding in different fields.
        if 5 in header or 8 in header:
            column.encodings.add(content.get(2, -1) if 5 in header else content.get(4, -1))
        place += length + stored


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    size, most = HEADER
    while True:
        file.seek(place)
        reader = Reader(content := file.read(size))
        try:
            return reader.structure(), reader.place
        except IndexError:
            if len(content) < size or size >= most:
                raise ValueError("the header of a page is cut off") from None
            size *= 16


def _text_bytes(path: Path, texts: dict[str, bool], rows: int, size: int) -> int:
    """Bytes of all texts, from the different ones and how often each occurs.

    Those that share prefixes cannot be read so, and are read few `rows` at a time.
    """
    from pyarrow import parquet

    total, repeated = 0, [name for name, refers in texts.items() if refers]
    with (
        open_file(path) as file,
        parquet.ParquetFile(file, read_dictionary=repeated) as table,
    ):
        for group in range(table.num_row_groups):
            for batch in table.iter_batches(rows, [group], list(texts)):
                total += sum(_bytes(leaf) for column in batch.columns for leaf in leaves(column))
                if total > FREE:
                    check_claim(path, total, size)
    return total


def _bytes(values: Any) -> int:
    from pyarrow import compute, types

    if not types.is_dictionary(values.type):
        return int(values.nbytes)
    lengths = compute.binary_length(values.dictionary)
    return compute.sum(lengths.take(values.indices.drop_null())).as_py() or 0
