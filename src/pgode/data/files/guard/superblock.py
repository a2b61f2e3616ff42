"""The first bytes of an HDF5 file."""

from pathlib import Path
from typing import BinaryIO

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: Path) -> bool:
    """Whether a regular file is in this format."""
    with path.open("rb") as file:
        return _beginning(file, path.stat().st_size) is not None


def width_of_lengths(file: BinaryIO, size: int) -> int:
    """Bytes of a length in this file; they are padded to eight."""
    file.seek((_beginning(file, size) or 0) + len(SIGNATURE))
    version, *numbers = file.read(7).ljust(7, b"\0")
    return min(numbers[1] if version > 1 else numbers[5], 8)


def _beginning(file: BinaryIO, size: int) -> int | None:
    """Where the signature is, perhaps after a block of others; None if there is none."""
    place = 0
    while place < size:
        file.seek(place)
        if file.read(len(SIGNATURE)) == SIGNATURE:
            return place
        place = max(512, 2 * place)
    return None
