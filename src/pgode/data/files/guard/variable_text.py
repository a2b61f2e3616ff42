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

LENGTH, NUMBER = 4, 4
"""Bytes of an entry: its length, the address of its heap, its number there."""
DEFLATE, SHUFFLE, FLETCHER = 1, 2, 3
"""Numbers of the filters whose chunks can be unpacked here."""


def text_bytes(path: Path, name: str, dataset: Any, rest: int) -> int:
    """Bytes of all texts of a dataset of texts of varying length; 0 if their length is fixed.

    `rest` is what the file has beside values; no text is longer.
    """
    import h5py

    if not dataset.id.get_type().is_variable_str() or not dataset.size:
        return 0
    entry = LENGTH + dataset.file.id.get_create_plist().get_sizes()[0] + NUMBER
    layout = dataset.id.get_create_plist().get_layout()
    if layout == h5py.h5d.COMPACT:
        # Held within a header of at most 64 kB.
        if dataset.size * rest > FREE:
            raise _unmeasured(path, name)
        return int(dataset.size * rest)
    if layout == h5py.h5d.CONTIGUOUS:
        place = dataset.id.get_offset()
        if place is None:
            return 0
        with path.open("rb") as file:
            file.seek(place)
            return int(_lengths(file.read(entry * dataset.size), entry).sum())
    total = 0
    for number in range(dataset.id.get_num_chunks()):
        place = dataset.id.get_chunk_info(number).chunk_offset
        total += int(_lengths(_unpacked(path, name, dataset, place, entry), entry).sum())
    return total


def _lengths(raw: bytes, entry: int) -> Int[np.ndarray, " entry"]:
    entries = np.frombuffer(raw[: len(raw) // entry * entry], np.uint8).reshape(-1, entry)
    return np.ascontiguousarray(entries[:, :LENGTH]).view("<u4").ravel().astype(np.int64)


def _unpacked(path: Path, name: str, dataset: Any, place: tuple[int, ...], entry: int) -> bytes:
    """The entries of a chunk."""
    skipped, raw = dataset.id.read_direct_chunk(place)
    raw = bytes(raw)
    settings = dataset.id.get_create_plist()
    wanted = entry * int(np.prod(dataset.chunks, dtype=np.int64))
    for number in reversed(range(settings.get_nfilters())):
        code = settings.get_filter(number)[0]
        if skipped & (1 << number):
            continue
        if code == FLETCHER:
            raw = raw[:-4]
        elif code == DEFLATE:
            raw = zlib.decompressobj().decompress(raw, wanted + entry)
        elif code == SHUFFLE:
            columns = np.frombuffer(raw[: len(raw) // entry * entry], np.uint8).reshape(entry, -1)
            raw = np.ascontiguousarray(columns.T).tobytes()
        else:
            raise _unmeasured(path, name)
    return raw


def _unmeasured(path: Path, name: str) -> InputError:
    return InputError(
        f"cannot read {path}: how long the texts of {name} are cannot be told before they are "
        f"read. Expected text that is stored plainly, or packed with zlib. Write it so."
    )
