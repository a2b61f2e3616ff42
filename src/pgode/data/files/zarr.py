"""Zarr folders, format 2: format 3 has no specification yet for fixed-width text."""

import warnings
from pathlib import Path

import numcodecs  # type: ignore[import-untyped]
import xarray as xr
import zarr
from zarr.errors import ZarrUserWarning

from pgode.data.files import large
from pgode.data.files.guard.damage import damaged
from pgode.data.files.guard.integrity import check_hashes
from pgode.data.files.guard.zarr_store import check_zarr
from pgode.data.files.layout import chunks, stored
from pgode.data.files.size import least_bytes
from pgode.data.trajectories import Trajectories
from pgode.runtime.disk.room import require_room
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing


def read(path: Path, force: bool = False) -> Trajectories:
    """Read a zarr folder of the trajectories schema."""
    try:
        with warnings.catch_warnings():
            # What zarr does not recognise is missing then, and an error says so.
            warnings.simplefilter("ignore", ZarrUserWarning)
            check_zarr(path)
            _check_arrays(path)
            opened = xr.open_dataset(
                path.absolute(),  # One such as a::b could mean the address of a server.
                engine="zarr",
                chunks=None,
                consolidated=False,
                decode_times=False,
                decode_timedelta=False,
                cache=False,
            )
            dataset = large.loaded(path, opened, _arrays)
            incomplete = _incomplete(path)
    except (ImportError, InputError):
        raise
    # Store, codec and metadata report damage by errors of many types.
    except Exception as error:
        raise damaged(path, error) from error
    data = Trajectories.from_dataset(dataset, source=str(path))
    if incomplete and not force and dataset.attrs.get("content_hash", data.hash) != data.hash:
        raise damaged(path, f"chunks of {', '.join(incomplete)} are missing")
    check_hashes(data, dataset.attrs, path, force)
    return data


def _check_arrays(path: Path) -> None:
    """Open array after array: of the errors of several at once, zarr prints all but one."""
    for metadata in sorted(path.glob("*/.zarray")):
        zarr.open_array(metadata.parent, mode="r", zarr_format=2)


def _arrays(path: Path) -> large.Raw:
    """The arrays of the folder by name."""
    group = zarr.open_group(path, mode="r", use_consolidated=False)
    return lambda name: group[name]


def _incomplete(path: Path) -> list[str]:
    """Variables with missing chunks.

    Zarr reads a missing chunk as a constant. Other writers leave out chunks that hold only that
    constant, so the data is damaged only if its content also differs from its hash.
    """
    arrays = zarr.open_group(path, mode="r", use_consolidated=False).arrays()
    return sorted(name for name, array in arrays if array.nchunks_initialized < array.nchunks)


def write(trajectories: Trajectories, path: Path) -> None:
    """Write one folder with all its chunks; the checksum of zlib detects changed bytes."""
    dataset = stored(trajectories)
    encoding = {
        name: {"chunks": chunks(variable), "compressors": [numcodecs.Zlib(level=4)]}
        for name, variable in dataset.variables.items()
    }
    require_room(path, least_bytes(dataset))
    with replacing(path) as temporary:
        dataset.to_zarr(
            temporary,
            mode="w-",
            zarr_format=2,
            consolidated=True,
            write_empty_chunks=True,
            encoding=encoding,
        )
