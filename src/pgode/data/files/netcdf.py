"""NetCDF-4 files through h5netcdf."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import xarray as xr
from xarray.backends import H5NetCDFStore

from pgode.data.files import large
from pgode.data.files.guard.damage import damaged
from pgode.data.files.guard.hdf5 import check_hdf5
from pgode.data.files.guard.integrity import check_hashes
from pgode.data.files.layout import chunks, stored
from pgode.data.files.size import least_bytes
from pgode.data.trajectories import Trajectories
from pgode.runtime.disk.room import require_room
from pgode.runtime.disk.unfailing import UnfailingFile, unfailing_file, uninterrupted
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing

CACHE = 16 * 2**20
"""Bytes of decompressed chunks of each variable that are kept for the next reads of them."""


def read(path: Path, force: bool = False) -> Trajectories:
    """Read a NetCDF file of the trajectories schema."""
    try:
        check_hdf5(path)
        # Times are numbers with a unit, even if the unit ("days") looks like that of a calendar.
        # Not cached: values of a file that is larger than memory must not stay there.
        # Absolute: a path such as a::b could mean the address of a server.
        opened = xr.open_dataset(
            path.absolute(),
            engine="h5netcdf",
            decode_times=False,
            decode_timedelta=False,
            cache=False,
        )
        dataset = large.loaded(path, opened, _arrays)
    except (ImportError, InputError):
        raise
    # The HDF5 library reports damage by errors of many types.
    except Exception as error:
        raise damaged(path, error) from error
    data = Trajectories.from_dataset(dataset, source=str(path))
    check_hashes(data, dataset.attrs, path, force)
    return data


def _arrays(path: Path) -> large.Raw:
    """The arrays of the file by name, with room to keep what is decompressed for a while."""
    import h5py

    held = h5py.File(path, "r", rdcc_nbytes=CACHE, rdcc_nslots=10_007, rdcc_w0=0.75)
    return lambda name: held[name]


def write(trajectories: Trajectories, path: Path) -> None:
    """Write one compressed file; checksums turn changed bytes into an error."""
    dataset = stored(trajectories)
    encoding = {
        name: {
            "zlib": True,
            "complevel": 4,
            "shuffle": True,
            "fletcher32": True,
            **({"chunksizes": chunks(variable)} if variable.size else {}),
        }
        for name, variable in dataset.variables.items()
        if variable.dtype.kind != "U"
    }
    write_dataset(dataset, path, encoding)


def write_dataset(
    dataset: xr.Dataset, path: Path, encoding: Mapping[Hashable, Mapping[str, Any]]
) -> None:
    """Write any dataset to one file in one step. A failed write is an error, and never a crash."""
    require_room(path, least_bytes(dataset))
    with replacing(path) as temporary, unfailing_file(temporary) as file, uninterrupted():
        store = opened_store(file)
        try:
            dataset.dump_to_store(store, encoding=encoding)
        finally:
            store.close()


def opened_store(file: UnfailingFile) -> Any:
    """A new NetCDF file for xarray.

    Not by `to_netcdf`, which cannot select the HDF5 version. From 1.10 on the structure of the
    file has checksums; without them one wrong byte can make HDF5 loop forever when it is opened.
    """
    import h5netcdf

    return H5NetCDFStore(h5netcdf.File(file, mode="w", libver="v110"), mode="w")
