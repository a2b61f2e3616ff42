"""NetCDF-4 files through h5netcdf."""

from pathlib import Path

import xarray as xr
from xarray.backends import H5NetCDFStore

from pgode.data.files.layout import chunks, damaged, stored
from pgode.data.trajectories import Trajectories
from pgode.runtime.files import replacing


def read(path: Path) -> Trajectories:
    """Read a NetCDF file of the trajectories schema."""
    try:
        # Times are numbers with a unit, even if the unit ("days") looks like that of a calendar.
        with xr.open_dataset(
            path, engine="h5netcdf", decode_times=False, decode_timedelta=False
        ) as opened:
            dataset = opened.load()
    except ImportError:
        raise
    # The HDF5 library reports damage by errors of many types.
    except Exception as error:
        raise damaged(path, error) from error
    return Trajectories.from_dataset(dataset, source=str(path))


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
    with replacing(path) as temporary:
        # Through the store because `to_netcdf` cannot select the HDF5 version. From 1.10 on the
        # structure of the file has checksums; without them one wrong byte can make HDF5 loop
        # forever when the file is opened.
        store = H5NetCDFStore.open(str(temporary), mode="w", driver_kwds={"libver": "v110"})
        try:
            dataset.dump_to_store(store, encoding=encoding)
        finally:
            store.close()
