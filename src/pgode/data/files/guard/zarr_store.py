"""Zarr folders that lead elsewhere, run codecs of objects, or claim more than they hold.

A zarr folder is a tree of files: a symbolic link or a fifo among them is read like any other, and
codecs such as pickle run code when they unpack.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from pgode.data.files.guard.claims import check_claim, disk_size
from pgode.data.files.guard.zarr_chunks import PACKED, check_chunk
from pgode.runtime.errors import InputError
from pgode.runtime.reading import Limits, read_json_mapping

METADATA = Limits(size=2**20, depth=32, nodes=50_000)
ENTRIES = 1_000_000
"""Files of a folder: chunks of gigabytes of data are thousands."""
FILTERS = (
    *("shuffle", "delta", "fixedscaleoffset", "packbits", "quantize", "bitround"),
    *("crc32", "crc32c", "adler32", "fletcher32", "jenkins_lookup3", "vlen-utf8"),
)
"""Codecs that give back at most about what they are given. Those of objects are not among them."""
FORMAT_3 = ("bytes", "transpose", "endian", "gzip", "zstd", "blosc", "crc32c", "vlen-utf8")
WIDE = 16
"""Bytes of the widest number that a filter may unpack to."""
NAMES = (".zarray", ".zgroup", ".zattrs", "zarr.json")


def check_zarr(path: Path) -> None:
    """Refuse links, special files, unknown codecs, and claims far beyond the size of the folder."""
    size = 0
    arrays: dict[str, str] = {}
    chunks: list[tuple[str, int]] = []
    for count, entry in enumerate(_entries(path)):
        if count > ENTRIES:
            raise InputError(
                f"cannot read {path}: it has more than {ENTRIES:,} files. Expected the chunks of "
                f"one data set. Check that it is the right folder."
            )
        found = entry.stat()
        size += disk_size(found)
        if entry.name in (".zarray", "zarr.json"):
            arrays[os.path.dirname(entry.path)] = entry.name  # noqa: PTH120
        elif entry.name in NAMES:
            read_json_mapping(Path(entry.path), limits=METADATA, allow_nan=True)
        else:
            chunks.append((entry.path, found.st_size))
    claimed, known = 0, {}
    for folder, name in sorted(arrays.items()):
        content = read_json_mapping(Path(folder) / name, limits=METADATA, allow_nan=True)
        if name == "zarr.json" and content.get("node_type") != "array":
            continue
        array = (_of_format_2 if name == ".zarray" else _of_format_3)(content, folder)
        known[folder] = array.packed, _piece(Path(folder), array, size)
        claimed += max(_width(array.dtype) * prod(array.shape), known[folder][1] or 0)
        check_claim(path, claimed, size)
    for chunk, held in chunks:
        folder = os.path.dirname(chunk)  # noqa: PTH120
        while folder not in known and len(folder) > len(str(path)):
            folder = os.path.dirname(folder)  # noqa: PTH120
        if folder in known:
            check_chunk(Path(chunk), held, *known[folder])


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    """All files below a folder, of which none may be a link or special."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    waiting.append(entry.path)
                elif stat.S_ISREG(mode):
                    yield entry
                else:
                    what = "a link" if stat.S_ISLNK(mode) else "no regular file"
                    raise InputError(
                        f"cannot read {folder}: {entry.path} is {what}, so reading it could read "
                        f"any other file, or wait forever. Expected a folder that holds its data "
                        f"itself. Copy it with its links followed (cp -rL)."
                    )


@dataclass(frozen=True)
class Array:
    """What the metadata of an array say."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: Any
    packed: str | None
    filtered: bool


def _of_format_2(content: Mapping[str, Any], folder: str) -> Array:
    packed = content.get("compressor")
    filters = _codecs(content.get("filters"), "id", FILTERS, folder)
    packers = _codecs([] if packed is None else [packed], "id", (*PACKED, *FILTERS), folder)
    return Array(
        _sizes(folder, "shape", content.get("shape")),
        _sizes(folder, "chunks", content.get("chunks")),
        content.get("dtype"),
        next((name for name in packers if name in PACKED), None),
        bool(filters),
    )


def _of_format_3(content: Mapping[str, Any], folder: str) -> Array:
    names = _codecs(content.get("codecs"), "name", FORMAT_3, folder)
    if content.get("storage_transformers"):
        raise _refused(folder, "storage transformers")
    grid = content.get("chunk_grid")
    inner = grid.get("configuration") if isinstance(grid, dict) else None
    packed = [name for name in names if name in PACKED]
    return Array(
        _sizes(folder, "shape", content.get("shape")),
        _sizes(folder, "chunks", inner.get("chunk_shape") if isinstance(inner, dict) else None),
        content.get("data_type"),
        packed[-1] if packed else None,
        len(packed) > 1,
    )


def _codecs(given: Any, key: str, allowed: tuple[str, ...], folder: str) -> list[str]:
    names = []
    for each in given if isinstance(given, list) else []:
        settings = each if isinstance(each, dict) else {key: each}
        name = settings.get(key)
        if name not in allowed:
            raise _refused(folder, f"the codec {str(name)[:40]!r}")
        for field in ("dtype", "astype"):  # What a filter unpacks to.
            if field in settings and _width(settings[field]) > WIDE:
                raise _refused(folder, f"values of {str(settings[field])[:40]!r}")
        names.append(str(name))
    return names


def _piece(folder: Path, array: Array, size: int) -> int | None:
    """Bytes that a chunk of the array may unpack to, if that is known."""
    width = _width(array.dtype)
    piece = width * prod(array.chunks)
    check_claim(folder, piece, size, "one chunk of it")
    # Filters may change the size of what is packed, by a few times.
    return piece * (WIDE if array.filtered else 1) if width else None


def _sizes(folder: str, name: str, given: Any) -> tuple[int, ...]:
    if not isinstance(given, list) or not all(type(n) is int and n >= 0 for n in given):
        raise InputError(
            f"cannot read {folder}: its {name} is {str(given)[:60]!r}. Expected a list of whole "
            f"numbers. Write or copy it again."
        )
    return tuple(given)


def _width(dtype: Any) -> int:
    """Bytes of a value; 0 for text of varying length, whose chunks hold all of it."""
    if dtype in ("|O", "O", "string"):
        return 0
    if isinstance(dtype, dict):  # Format 3, with the length of a text.
        settings = dtype.get("configuration")
        length = settings.get("length_bytes") if isinstance(settings, dict) else None
        return length if type(length) is int and length > 0 else 8
    try:
        return int(np.dtype(dtype).itemsize)
    except (TypeError, ValueError, KeyError, SyntaxError):
        return 8  # Not a type: the library says so.


def _refused(folder: str, what: str) -> InputError:
    return InputError(
        f"cannot read {folder}: it is packed with {what}. Expected one of "
        f"{', '.join((*PACKED, *FILTERS))}, which run no code of the file. Write it again with one "
        f"of these."
    )
