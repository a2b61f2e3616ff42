"""Whether a packed chunk of a zarr folder unpacks to its size, before it is unpacked.

The libraries unpack whatever a chunk holds, and only then look whether it was too much.
"""

import bz2
import lzma
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from pgode.data.files.guard.claims import FREE
from pgode.runtime.errors import InputError

PACKED = ("zlib", "gzip", "bz2", "lzma", "zstd", "lz4", "blosc")
MOST = {"zlib": 1032, "gzip": 1032}
"""Times its size that a chunk can unpack to, where that is known; smaller ones need no look."""
STEP = 2**20


def check_chunk(path: Path, held: int, packed: str | None, size: int | None) -> None:
    """Refuse a chunk of `held` bytes that unpacks to more than `size`, or to too many if None."""
    most = FREE if size is None else size
    if packed is None:
        if held > most and size is not None:
            raise _larger(path, f"{held} bytes", most)
        return
    if held * MOST.get(packed, 10**9) <= FREE:
        return
    with path.open("rb") as file:
        found = _unpacked_size(file, packed, most)
    if found is None or found > most:
        told = "an unknown number of bytes" if found is None else f"{found} bytes"
        raise _larger(path, told, most)


def _unpacked_size(file: BinaryIO, packed: str, most: int) -> int | None:
    """Bytes that a chunk unpacks to, or a number beyond `most`; None if it does not say so."""
    if packed == "zlib":
        return _streamed(file, zlib.decompressobj(), most)
    if packed == "gzip":
        return _streamed(file, zlib.decompressobj(wbits=31), most)
    if packed == "bz2":
        return _streamed(file, bz2.BZ2Decompressor(), most)
    if packed == "lzma":
        return _streamed(file, lzma.LZMADecompressor(), most)
    head = file.read(18)
    if packed == "lz4":
        return struct.unpack("<I", head[:4])[0] if len(head) >= 4 else 0
    if packed == "blosc":
        return struct.unpack("<I", head[4:8])[0] if len(head) >= 8 else 0
    return _zstd_size(head)


def _streamed(file: BinaryIO, unpacker: Any, most: int) -> int:
    """Unpack step by step, keep nothing, stop beyond `most`. Damage is found when it is read."""
    total, waiting = 0, b""
    try:
        while total <= most and not unpacker.eof:
            if not waiting and getattr(unpacker, "needs_input", True):
                waiting = file.read(STEP)
                if not waiting:
                    break
            total += len(unpacker.decompress(waiting, STEP))
            waiting = getattr(unpacker, "unconsumed_tail", b"")
    except (zlib.error, lzma.LZMAError, OSError, ValueError, EOFError):
        return total
    return total


def _zstd_size(head: bytes) -> int | None:
    """The size in the header of a frame, as the format's specification (RFC 8878) has it."""
    if len(head) < 6 or head[:4] != b"\x28\xb5\x2f\xfd":
        return 0  # Not a frame: the library says so.
    form = head[4]
    single = bool(form & 0x20)
    length = (1 if single else 0, 2, 4, 8)[form >> 6]
    start = 5 + (0 if single else 1) + (0, 1, 2, 4)[form & 3]
    if length == 0:
        return None
    value = int.from_bytes(head[start : start + length], "little")
    return value + 256 if length == 2 else value


def _larger(path: Path, found: str, most: int) -> InputError:
    return InputError(
        f"cannot read {path}: this chunk unpacks to {found}, but holds at most {most}. Expected "
        f"no more than its array says. Write or copy the data again."
    )
