"""Arrow files (Feather) that claim more than they can hold.

The buffers of a column may be packed: a few kilobytes are gigabytes of zeros then. Each starts with
its length when unpacked, by which memory is allocated, so that nothing has to be unpacked here. A
column of nulls has no buffer at all, and one part of a file can be listed any number of times.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pgode.data.files.guard.claims import check_claim, check_table_memory, disk_size
from pgode.data.files.guard.tables.flatbuffer import Table
from pgode.data.files.guard.tables.nested import leaves
from pgode.runtime.reading import check_file, open_file

MAGIC = b"ARROW1"
NESTED = 64
"""Bytes of a value in a list or a structure, which become objects of Python."""
DICTIONARY, BATCH = 2, 3
"""Kinds of messages: the categories of a column, and rows."""
EXPERIMENTAL = b"ARROW:experimental_compression"
"""How files of version 0.17 say that they are packed."""
HEAD = 8
"""Bytes of the length that a packed buffer starts with."""
PLAIN = -1
"""Length of a buffer that is not packed although others are."""


def check_arrow(path: Path) -> None:
    """Refuse more rows or bytes than the file, or memory, can hold; only headers are read.

    Errors of many types are raised for damaged files. Files of the first version of Feather, which
    packs nothing, are left to the library.
    """
    found = check_file(path)
    size = disk_size(found)
    cells, objects, unpacked = 0, 0, 0
    with open_file(path) as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        for batch, columns, body, packed in _batches(file, found.st_size):
            # Numbers of Python: those of numpy would overflow.
            lengths = list(map(int, batch.rows(1, 2)[:, 0]))
            cells += max(sum(lengths), batch.number(0, "q"))
            objects += sum(lengths) if len(lengths) > columns else 0
            unpacked += _unpacked(file, batch, body, packed)
            check_claim(path, max(8 * cells, NESTED * objects, unpacked), size)
    check_table_memory(path, max(8 * cells, unpacked))


def check_views(path: Path, table: Any) -> None:
    """Refuse a table that was read, if its texts are views of the same bytes, and too many."""
    import pyarrow

    size = disk_size(check_file(path))
    total = 0
    for column in table.columns:
        for leaf in (leaf for chunk in column.chunks for leaf in leaves(chunk)):
            if leaf.type in (pyarrow.string_view(), pyarrow.binary_view()) and len(leaf):
                # Each view has 16 bytes, which start with the length of its text.
                views = np.frombuffer(leaf.buffers()[1], "<i4").reshape(-1, 4)
                total += int(views[leaf.offset : leaf.offset + len(leaf), 0].sum(dtype=np.int64))
    check_claim(path, total, size)
    check_table_memory(path, total)


def _batches(file: BinaryIO, size: int) -> Iterator[tuple[Table, int, int, bool]]:
    """Each part of the file: its description, columns, where its buffers start, whether packed."""
    tail = len(MAGIC) + 4
    file.seek(size - tail)
    length = int.from_bytes(file.read(4), "little")
    if file.read() != MAGIC or length > size - tail:
        raise ValueError("it has no end")
    file.seek(size - tail - length)
    footer = Table(file.read(length))
    schema = footer.table(1)
    if schema is None:
        raise ValueError("it has no columns")
    blocks = np.concatenate([footer.rows(2, 3), footer.rows(3, 3)])
    described = blocks[:, 1] & 0xFFFFFFFF  # A number of 32 bits, and as many of padding.
    if (
        blocks[:, ::2].min(initial=0) < 0
        or sum(map(int, described)) + sum(map(int, blocks[:, 2])) > size
    ):
        raise ValueError("its parts have more bytes than the file")
    for start, length in zip(map(int, blocks[:, 0]), map(int, described), strict=True):
        file.seek(start)
        content = file.read(length)
        # Files of before 2020 have no mark before the length.
        message = Table(content[8 if content[:4] == b"\xff" * 4 else 4 :])
        batch, kind = message.table(2), message.number(1, "B")
        if batch is not None and kind == DICTIONARY:
            batch = batch.table(1)
        if batch is None or kind not in (DICTIONARY, BATCH):
            raise ValueError("it has a part that is no rows")
        columns = 1 if kind == DICTIONARY else schema.count(1)
        packed = batch.table(3) is not None or EXPERIMENTAL in content
        yield batch, columns, start + length, packed


def _unpacked(file: BinaryIO, batch: Table, body: int, packed: bool) -> int:
    """Bytes of all buffers of a part when they are unpacked."""
    total = 0
    for start, length in batch.rows(2, 2).tolist():
        if min(start, length) < 0:
            raise ValueError("it has a buffer of negative length")
        total += length
        if packed and length >= HEAD:
            file.seek(body + start)
            (claimed,) = struct.unpack("<q", file.read(HEAD))
            total += max(claimed, 0) - length if claimed != PLAIN else -HEAD
    return total
