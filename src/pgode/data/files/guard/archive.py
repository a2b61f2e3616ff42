"""Numpy archives, whose headers are compared with what they hold before anything is allocated."""

import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from pgode.data.files.guard.claims import check_claim, disk_size
from pgode.data.files.guard.damage import damaged
from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory
from pgode.runtime.reading import check_file, open_file

Array = Shaped[np.ndarray, "..."]
MEMBERS = 1000
EXTRA = 64
"""Bytes that a member may have beside its name, such as sizes beyond 4 GB."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What numpy writes. Others unpack a few kilobytes to hundreds of megabytes at a time."""
WORK = 3
"""Times that arrays are held in memory until they are checked."""


def read_archive(
    path: Path, wanted: Collection[str], check_names: Callable[[list[str]], None]
) -> dict[str, Array]:
    """The wanted arrays of an archive, as far as it has them, each with its checksum compared."""
    size = disk_size(check_file(path))
    with open_file(path) as file:
        try:
            if file.read(6) == np.lib.format.MAGIC_PREFIX:
                raise damaged(path, "it holds a single array, not an archive of named ones")
            with zipfile.ZipFile(file) as archive:
                members = _members(path, archive, size)
                check_names(list(members))
                return {
                    name: _array(path, archive, name, members[name])
                    for name in wanted
                    if name in members
                }
        except InputError:
            raise
        # A damaged archive is reported by errors of many types.
        except Exception as error:
            raise damaged(path, error) from error


def _members(path: Path, archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The arrays by name, after the claims of all of them."""
    found = archive.infolist()
    if len(found) > MEMBERS:
        raise damaged(path, f"it has {len(found)} members, more than {MEMBERS}")
    check_claim(path, sum(each.file_size for each in found), size)
    members: dict[str, zipfile.ZipInfo] = {}
    for each in found:
        if each.comment or len(each.extra) > EXTRA:
            # A changed length takes the members that follow for a comment, and leaves them out.
            raise damaged(path, f"{each.filename} has a comment, as numpy writes none")
        if each.compress_type not in METHODS:
            raise damaged(path, f"{each.filename} is packed in a way that numpy does not know")
        name = each.filename.removesuffix(".npy")
        if name in members:
            raise damaged(path, f"it has two members {name}")
        # The name stands in the archive twice. Opening compares them, so a changed name, which
        # would leave an array out, is found.
        archive.open(each).close()
        members[name] = each
    return members


def _array(path: Path, archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> Array:
    refuse_beyond_memory(
        WORK * info.file_size,
        f'reading the array "{name}" of {path}',
        "Write it as NetCDF (.nc), which is read in pieces.",
    )
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(member)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(member)
        if dtype.hasobject:
            raise InputError(
                f'the array "{name}" in {path} holds Python objects, which are never unpickled '
                f"because that could run any code. Expected numbers or fixed-width text. Save it "
                f"with a plain dtype, such as float64 or str."
            )
        count = 1
        for length in shape:
            count *= int(length)
        claimed = count * dtype.itemsize
        if min((0, *shape)) < 0 or claimed != info.file_size - member.tell() or not dtype.itemsize:
            raise damaged(path, f'the array "{name}" claims {claimed} bytes and has others')
        content = member.read(claimed)
        # Only at its end is the checksum of a member compared.
        if len(content) != claimed or member.read(1):
            raise zlib.error(f'the array "{name}" is cut off')
    values = np.frombuffer(content, dtype)
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)
