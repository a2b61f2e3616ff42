"""What a file claims to hold, against its size on disk: a few bytes can claim petabytes."""

import gzip
import os
from pathlib import Path

from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory, size_text

FREE = 2**28
"""Bytes that any file may claim: they are read within a second."""
RATIO = 250
"""Times its size that a file may claim beyond that. Real series are packed to a half or a tenth."""

HELD = 2
"""Times that the values of a table are held in memory, by Arrow and by pandas."""


def disk_size(found: os.stat_result) -> int:
    """Bytes that a file takes on disk; those of a hole in it, which reads as zeros, not counted."""
    blocks = getattr(found, "st_blocks", None)
    # Some file systems report no blocks for small or new files.
    return found.st_size if not blocks else min(found.st_size, blocks * 512)


def check_table_memory(path: Path, values: float) -> None:
    """Refuse a table whose values, in bytes, do not fit in memory."""
    refuse_beyond_memory(HELD * values, f"the table {path}", "Split the table into several.")


def check_gzip(path: Path, size: int) -> None:
    """Refuse a packed file that is unpacked to far more than its size, by unpacking it once."""
    most, total = max(FREE, RATIO * size), 0
    with gzip.open(path) as file:
        while block := file.read(2**20):
            total += len(block)
            if total > most:
                check_claim(path, total, size)


def check_claim(path: Path, claimed: int, size: int, what: str = "it") -> None:
    """Refuse a file that claims to hold far more than it can: a bomb, or a damaged header."""
    if claimed > max(FREE, RATIO * size):
        raise InputError(
            f"cannot read {path}: {what} would hold {size_text(claimed)}, but takes "
            f"{size_text(size)} on disk. Expected at most {size_text(FREE)}, or {RATIO} times the "
            f"size on disk. Copy the file again if it is damaged; if it is right, write it with "
            f"less compression."
        )
