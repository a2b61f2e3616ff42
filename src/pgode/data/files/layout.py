"""Shared by NetCDF and zarr: the stored variables, their chunks, the error for damaged files."""

from pathlib import Path

import xarray as xr

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

CHUNK_BYTES = 2**20


def stored(trajectories: Trajectories) -> xr.Dataset:
    """The dataset a file holds; the mask is left out where everything was observed."""
    dataset = trajectories.dataset
    return dataset.drop_vars("observed") if trajectories.observed.all() else dataset


def chunks(variable: xr.Variable) -> tuple[int, ...]:
    """Chunks of about a megabyte of whole rows, so that one system is read in one piece."""
    if not variable.shape:
        return ()
    row = max(1, variable.nbytes // max(1, variable.shape[0]))
    return (
        max(1, min(variable.shape[0], CHUNK_BYTES // row)),
        *(max(1, n) for n in variable.shape[1:]),
    )


def damaged(path: Path, reason: object) -> InputError:
    """The error for a file that is damaged or not of the format of its ending."""
    text = " ".join(str(reason).split()) or type(reason).__name__
    return InputError(
        f"cannot read {path}: it is damaged, incomplete, or not {path.suffix} data ({text}). "
        f"Expected data written by pgode.data.files.write. Write or copy it again."
    )
