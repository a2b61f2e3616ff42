"""Parquet files that claim more than they can hold.

A value that repeats is stored once with its count, so that a kilobyte can stand for any number of
rows, and a text of a megabyte for a million of them.
"""

from pathlib import Path
from typing import Any

from pgode.data.files.guard.claims import FREE, check_claim, disk_size
from pgode.runtime.memory import refuse_beyond_memory
from pgode.runtime.reading import check_file, open_file

COLUMNS = 20_000
WORK = 2
"""Times that the values of a table are held in memory, by Arrow and by pandas."""


def check_parquet(path: Path) -> None:
    """Refuse more columns, rows or text than the file, or memory, can hold.

    Errors of the library are raised as they are, for damaged files.
    """
    from pyarrow import parquet

    size = disk_size(check_file(path))
    with open_file(path) as file, parquet.ParquetFile(file) as table:
        found = table.metadata
        claimed = found.num_rows * found.num_columns * 8
        packed = 0
        for group in range(found.num_row_groups):
            columns = found.row_group(group)
            packed += sum(
                columns.column(number).total_uncompressed_size
                for number in range(columns.num_columns)
            )
        texts = [
            name for name in table.schema_arrow.names if _is_text(table.schema_arrow.field(name))
        ]
        check_claim(path, max(claimed, packed), size)
        if texts and found.num_rows * packed > FREE:
            claimed += _text_bytes(path, texts)
            check_claim(path, claimed, size)
    refuse_beyond_memory(WORK * claimed, f"the table {path}", "Split the table into several.")


def _is_text(field: Any) -> bool:
    from pyarrow import types

    kind = field.type
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _text_bytes(path: Path, names: list[str]) -> int:
    """Bytes of all texts, from the different ones and how often each occurs."""
    import pyarrow as arrow
    from pyarrow import compute, parquet

    total = 0
    with (
        open_file(path) as file,
        parquet.ParquetFile(file, read_dictionary=names) as table,
    ):
        for batch in table.iter_batches(columns=names):
            for column in batch.columns:
                if not arrow.types.is_dictionary(column.type):
                    total += column.nbytes
                    continue
                lengths = compute.binary_length(column.dictionary)
                total += compute.sum(lengths.take(column.indices.drop_null())).as_py() or 0
            if total > FREE:
                check_claim(path, total, disk_size(check_file(path)))
    return total
