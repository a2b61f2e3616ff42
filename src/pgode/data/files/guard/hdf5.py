"""HDF5 files that lead elsewhere, or claim more than they hold, are refused before they are read.

An external link, a dataset stored in another file or a virtual one would read any file that the
user may read, and a link to a group above it has no end.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgode.data.files.guard.claims import check_claim, disk_size
from pgode.data.files.guard.heaps import check_heaps
from pgode.data.files.guard.variable_text import text_bytes
from pgode.runtime.errors import InputError
from pgode.runtime.reading import check_file

MEMBERS = 10_000
"""Groups and datasets that are looked at; data of pgode have about 20."""
SEARCHED = 2**28
"""Bytes of a file that is searched for heaps before it is opened. Of a larger one, what lies
between its values is searched before a text is read.
"""


def check_hdf5(path: Path) -> None:
    """Refuse what leads out of the file, and what claims far more than the file can hold.

    Errors of the library are raised as they are, of many types, for damaged files.
    """
    import h5py

    size = disk_size(check_file(path))
    if path.stat().st_size <= SEARCHED:
        check_heaps(path)
    with h5py.File(path, "r") as file:
        found = []
        for name, dataset in _datasets(path, file):
            _check_storage(path, name, dataset)
            found.append((name, dataset))
        if path.stat().st_size > SEARCHED:
            check_heaps(path, (part for _, dataset in found for part in _stored(dataset)))
        rest = path.stat().st_size - sum(dataset.id.get_storage_size() for _, dataset in found)
        claimed = 0
        for name, dataset in found:
            claimed += _claimed(path, name, dataset, size, rest)
            check_claim(path, claimed, size)


def _datasets(path: Path, file: Any) -> Iterator[tuple[str, Any]]:
    """All datasets, after the links that lead to them have been checked."""
    import h5py

    waiting, seen, count = [("", file)], set(), 0
    while waiting:
        prefix, group = waiting.pop()
        links = group.id.links
        for raw in group.id:
            count += 1
            if count > MEMBERS:
                raise InputError(
                    f"cannot read {path}: it has more than {MEMBERS:,} groups and datasets. "
                    f"Expected the few of a data file. Check that it is the right file."
                )
            name = f"{prefix}/{raw.decode('utf-8', 'backslashreplace')}"
            kind = links.get_info(raw).type
            if kind != h5py.h5l.TYPE_HARD:
                what = {h5py.h5l.TYPE_SOFT: "a link", h5py.h5l.TYPE_EXTERNAL: "another file"}
                raise _elsewhere(path, name, f"is {what.get(kind, 'a link of unknown kind')}")
            found = group[raw]
            if isinstance(found, h5py.Dataset):
                yield name, found
            elif isinstance(found, h5py.Group):
                address = h5py.h5o.get_info(found.id).addr
                if address in seen:
                    raise _elsewhere(path, name, "is a group that occurs twice")
                seen.add(address)
                waiting.append((name, found))


def _check_storage(path: Path, name: str, dataset: Any) -> None:
    settings = dataset.id.get_create_plist()
    if settings.get_external_count():
        raise _elsewhere(path, name, "is stored in another file")
    if dataset.is_virtual:
        raise _elsewhere(path, name, "is a view of other datasets (virtual)")


def _stored(dataset: Any) -> list[tuple[int, int]]:
    """Places and lengths of the values of a dataset."""
    if dataset.chunks is None:
        place = dataset.id.get_offset()
        return [] if place is None else [(place, dataset.id.get_storage_size())]
    parts: list[tuple[int, int]] = []
    dataset.id.chunk_iter(lambda chunk: parts.append((chunk.byte_offset, chunk.size)))
    return parts


def _claimed(path: Path, name: str, dataset: Any, size: int, rest: int) -> int:
    """Bytes of a dataset in memory; a chunk is unpacked as a whole, however little is used.

    `rest` is what the file has beside the values of its datasets, such as texts.
    """
    import h5py

    count = int(dataset.size or 0)
    kind = dataset.dtype
    if kind.kind == "O":
        if h5py.check_string_dtype(kind) is None and h5py.check_ref_dtype(kind) is None:
            raise InputError(
                f"cannot read {path}: {name} holds lists of varying length. Expected numbers or "
                f"text. Write it as an array."
            )
        if h5py.check_string_dtype(kind) is not None:
            check_claim(path, 64 * count, size, name)
            return 64 * count + text_bytes(path, name, dataset, rest)
    chunk = 1
    for length in dataset.chunks or ():
        chunk *= int(length)
    return max(count, chunk if dataset.chunks else 0) * int(kind.itemsize)


def _elsewhere(path: Path, name: str, what: str) -> InputError:
    return InputError(
        f"cannot read {path}: {name} {what}, so reading it could read any other file. Expected a "
        f"file that holds its data itself. Copy them into one file, for instance with h5repack or "
        f"nccopy."
    )
