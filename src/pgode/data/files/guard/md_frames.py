"""Frames of molecular dynamics (XTC, TRR, DCD), whose headers are checked before mdtraj reads them.

Its readers, written in C, allocate what a header claims and do not look whether it can be: a wrong
byte ends the process, or writes past its memory.
"""

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pgode.runtime.reading import open_file

SMALL = range(9, 73)
"""Numbers of the steps in which XTC packs small differences."""
FEW = 9
"""XTC packs no positions of so few atoms."""
BESIDE = 80
"""Bytes of a frame of DCD besides positions, with a box."""


class BrokenError(Exception):
    """What is wrong with a frame."""


class Extent(NamedTuple):
    """What a trajectory holds, by its headers."""

    atoms: int
    frames: int


def extent_of(path: Path) -> Extent | None:
    """Atoms and frames of a trajectory whose frames are well formed; None for other formats.

    Raises `BrokenError` for frames that are not.
    """
    check = READERS.get(path.suffix.lower())
    if check is None:
        return None
    with open_file(path) as file:
        file.seek(0, 2)
        size = file.tell()
        file.seek(0)
        try:
            return check(file, size)
        except struct.error:
            raise BrokenError("it is cut off") from None


def _ints(file: BinaryIO, count: int, order: str = ">") -> tuple[int, ...]:
    return struct.unpack(f"{order}{count}i", file.read(4 * count))


def _xtc(file: BinaryIO, size: int) -> Extent:
    atoms, place, frame = -1, 0, 0
    while place < size:
        file.seek(place)
        magic, count, _ = _ints(file, 3)
        values = struct.unpack(">10f", file.read(40))
        (again,) = _ints(file, 1)
        if magic != 1995 or count != again or count < 1 or atoms not in (-1, count):
            raise BrokenError(f"frame {frame} has no header, or another number of atoms")
        if not all(math.isfinite(value) for value in values):
            raise BrokenError(f"frame {frame} has a time or a box that is not finite")
        atoms = count
        place = file.tell() + 12 * count if count <= FEW else _packed(file, count, frame)
        if place > size:
            raise BrokenError(f"frame {frame} is cut off")
        frame += 1
    return _found(atoms, frame)


def _packed(file: BinaryIO, count: int, frame: int) -> int:
    """Where packed positions end; their lengths have to fit the memory that mdtraj has for them."""
    (precision,) = struct.unpack(">f", file.read(4))
    *bounds, small, length = _ints(file, 8)
    ordered = all(low <= high for low, high in zip(bounds[:3], bounds[3:], strict=True))
    if not (math.isfinite(precision) and precision > 0 and ordered and small in SMALL):
        raise BrokenError(f"the packing of frame {frame} is invalid")
    if not 0 < length <= 4 * int(3 * count * 1.2) - 12:
        raise BrokenError(f"frame {frame} has {length} bytes of positions, for {count} atoms")
    return file.tell() + -(-length // 4) * 4


def _trr(file: BinaryIO, size: int) -> Extent:
    atoms, place, frame = -1, 0, 0
    while place < size:
        file.seek(place)
        magic, length, text = _ints(file, 3)
        if magic != 1993 or length != 13 or text != 12:
            raise BrokenError(f"frame {frame} has no header")
        file.seek(12, 1)
        sizes = _ints(file, 10)
        count, _, _ = _ints(file, 3)
        box, arrays = sizes[2], sizes[7:]
        if count < 1 or atoms not in (-1, count) or any(each < 0 for each in sizes):
            raise BrokenError(f"frame {frame} has a wrong header, or another number of atoms")
        width = arrays[0] // (3 * count)
        fits = width in (4, 8) and all(each in (0, 3 * count * width) for each in arrays)
        if not fits or box not in (0, 9 * width) or any(sizes[k] for k in (0, 1, 5, 6)):
            raise BrokenError(f"the sizes in the header of frame {frame} are invalid")
        atoms = count
        place = file.tell() + 2 * width + sum(sizes)
        if place > size:
            raise BrokenError(f"frame {frame} is cut off")
        frame += 1
    return _found(atoms, frame)


def _dcd(file: BinaryIO, size: int) -> Extent:
    head = file.read(8)
    order = "<" if head[:4] == b"\x54\0\0\0" else ">"
    if head not in (b"\x54\0\0\0CORD", b"\0\0\0\x54CORD"):
        raise BrokenError("it does not start as DCD files do")
    numbers = _ints(file, 20, order)
    fixed, step = numbers[8], numbers[0]
    file.seek(4, 1)
    (title,) = _ints(file, 1, order)
    if not 4 <= title <= 2**20 or fixed < 0 or step < 0:
        raise BrokenError("its header is invalid")
    file.seek(title, 1)
    end, four, count, again = _ints(file, 4, order)
    if end != title or four != 4 or again != 4 or count < 1 or fixed >= count:
        raise BrokenError("its header is invalid")
    if 12 * (count - fixed) > size:
        raise BrokenError(f"it claims {count} atoms, but no frame of them fits into the file")
    # The number in the header is often wrong. Some frames may be a few bytes smaller or larger.
    return Extent(count, size // (12 * count + BESIDE))


def _found(atoms: int, frames: int) -> Extent:
    if atoms < 0:
        raise BrokenError("it has no frames")
    return Extent(atoms, frames)


READERS: dict[str, Callable[[BinaryIO, int], Extent]] = {".xtc": _xtc, ".trr": _trr, ".dcd": _dcd}
