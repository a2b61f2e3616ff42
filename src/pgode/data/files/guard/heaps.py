"""Heaps of HDF5 files that the library would walk without end.

Texts and references of varying length lie in heaps, one entry behind the other. Entry 0 is the free
rest; where damage makes its size 0, the library never gets past it, and nothing can stop it.
"""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

START = b"GCOL\x01\0\0\0"
HEAD, ENTRY, STEP = 16, 16, 8
"""Bytes before the first entry and before the content of each, and what contents are padded to."""


def check_heaps(path: Path) -> None:
    """Raise `ValueError` for a heap whose entries do not lead to its end."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for start in _starts(content):
            (size,) = struct.unpack_from("<Q", content, start + len(START))
            place, end = start + HEAD, start + size
            while end <= len(content) and place + ENTRY <= end:
                number, _, length = struct.unpack_from("<HHxxxxQ", content, place)
                if number == 0:
                    if length < ENTRY:
                        raise ValueError(f"the heap at byte {start} does not end")
                    break
                place += ENTRY + -(-length // STEP) * STEP


def _starts(content: mmap.mmap) -> Iterator[int]:
    start = content.find(START)
    while 0 <= start <= len(content) - HEAD:
        yield start
        start = content.find(START, start + 1)
