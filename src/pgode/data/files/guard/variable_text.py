"""How long the texts of an HDF5 dataset are, before they are read.

Texts of varying length are stored as a length and a place each, and many of them may share one
place: a small file can stand for terabytes of text. So the lengths are summed first.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from pgode.data.files.guard.claims import FREE
from pgode.runtime.errors import InputError

ENTRY = 16
"""Bytes of an entry: its length (4), the address of its heap (8), its number there (4)."""
DEFLATE, SHUFFLE, FLETCHER = 1, 2, 3
"""Numbers of the filters whose chunks can be unpacked here."""


def text_bytes(path: Path, name: str, dataset: Any, size: int) -> int:
    """Bytes of all texts of a dataset of texts of varying length; 0 if their length is fixed."""
    import h5py

    if not dataset.id.get_type().is_variable_str() or not dataset.size:
        return 0
    layout = dataset.id.get_create_plist().get_layout()
    if layout == h5py.h5d.COMPACT:
        # Held within a header of at most 64 kB. No text is longer than the file.
        if dataset.size * size > FREE:
            raise _unmeasured(path, name)
        return int(dataset.size * size)
    if layout == h5py.h5d.CONTIGUOUS:
        place = dataset.id.get_offset()
        if place is None:
            return 0
        with path.open("rb") as file:
            file.seek(place)
            return int(_lengths(file.read(ENTRY * dataset.size)).sum())
    total = 0
    for number in range(dataset.id.get_num_chunks()):
        place = dataset.id.get_chunk_info(number).chunk_offset
        total += int(_lengths(_unpacked(path, name, dataset, place)).sum())
    return total


def _lengths(raw: bytes) -> Int[np.ndarray, " entry"]:
    entries = np.frombuffer(raw[: len(raw) // ENTRY * ENTRY], np.uint8).reshape(-1, ENTRY)
    return np.ascontiguousarray(entries[:, :4]).view("<u4").ravel().astype(np.int64)


def _unpacked(path: Path, name: str, dataset: Any, place: tuple[int, ...]) -> bytes:
    """The entries of a chunk."""
    skipped, raw = dataset.id.read_direct_chunk(place)
    raw = bytes(raw)
    settings = dataset.id.get_create_plist()
    wanted = ENTRY * int(np.prod(dataset.chunks, dtype=np.int64))
    for number in reversed(range(settings.get_nfilters())):
        code = settings.get_filter(number)[0]
        if skipped & (1 << number):
            continue
        if code == FLETCHER:
            raw = raw[:-4]
        elif code == DEFLATE:
            raw = zlib.decompressobj().decompress(raw, wanted + ENTRY)
        elif code == SHUFFLE:
            columns = np.frombuffer(raw[: len(raw) // ENTRY * ENTRY], np.uint8).reshape(ENTRY, -1)
            raw = np.ascontiguousarray(columns.T).tobytes()
        else:
            raise _unmeasured(path, name)
    return raw


def _unmeasured(path: Path, name: str) -> InputError:
    return InputError(
        f"cannot read {path}: how long the texts of {name} are cannot be told before they are "
        f"read. Expected text that is stored plainly, or packed with zlib. Write it so."
    )
