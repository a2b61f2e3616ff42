"""Heaps of HDF5 files that the library would walk without end.

Texts and references of varying length lie in heaps, one entry behind the other. Entry 0 is the free
rest; where damage makes its size 0, the library never gets past it, and nothing can stop it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from pgode.data.files.guard.superblock import width_of_lengths
from pgode.runtime.reading import open_file

START = b"GCOL\x01\0\0\0"
HEAD, ENTRY, STEP = 16, 16, 8
"""Bytes before the first entry and before the content of each, and what contents are padded to."""
BLOCK = 2**24
"""Bytes that are searched at a time."""


def check_heaps(path: Path, stored: Iterable[tuple[int, int]] = ()) -> None:
    """Raise `ValueError` for a heap whose entries do not lead to its end.

    `stored` are places and lengths of values, which are not searched.
    """
    size = path.stat().st_size
    entries = size // ENTRY  # All heaps together have no more, unless they lie in each other.
    with open_file(path) as file:
        width = width_of_lengths(file, size)
        for first, end in _gaps(size, sorted(stored)):
            for start in _starts(file, first, end):
                entries -= _walked(file, start, size, width, entries)


def _gaps(size: int, stored: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """First and last byte of what lies between the stored values."""
    place = 0
    for start, length in stored:
        if start > place:
            yield place, min(start, size)
        place = max(place, start + length)
    if place < size:
        yield place, size


def _starts(file: BinaryIO, first: int, end: int) -> Iterator[int]:
    for block in range(first, end, BLOCK):
        file.seek(block)
        content = file.read(min(BLOCK + len(START) - 1, end - block))
        found = content.find(START)
        while found >= 0:
            yield block + found
            found = content.find(START, found + 1)


def _walked(file: BinaryIO, start: int, size: int, width: int, most: int) -> int:
    """The number of entries of a heap; an end beyond that of the file is found by the library."""
    file.seek(start + len(START))
    end = start + int.from_bytes(file.read(width), "little")
    place, count = start + HEAD, 0
    while end <= size and place + ENTRY <= end:
        count += 1
        if count > most:
            raise ValueError(f"the heap at byte {start} lies in others")
        file.seek(place)
        entry = file.read(ENTRY)
        length = int.from_bytes(entry[8 : 8 + width], "little")
        if entry[:2] == b"\0\0":
            if length < ENTRY:
                raise ValueError(f"the heap at byte {start} does not end")
            break
        place += ENTRY + -(-length // STEP) * STEP
    return count
