"""What NetCDF and zarr have in common: what is stored, how it is cut up, what damage is called."""

from pathlib import Path

import xarray as xr

from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

CHUNK_BYTES = 2**20


def stored(trajectories: Trajectories) -> xr.Dataset:
    """The dataset a file holds: a mask that says nothing is left out."""
    dataset = trajectories.dataset
    return dataset.drop_vars("observed") if trajectories.observed.all() else dataset


def chunks(variable: xr.Variable) -> tuple[int, ...]:
    """About a megabyte of whole first-dimension rows, so that one system is read in one piece."""
    if not variable.shape:
        return ()
    row = max(1, variable.nbytes // max(1, variable.shape[0]))
    return (
        max(1, min(variable.shape[0], CHUNK_BYTES // row)),
        *(max(1, n) for n in variable.shape[1:]),
    )


def damaged(path: Path, reason: object) -> InputError:
    """The error for a file that is not what its ending says, or no longer."""
    text = " ".join(str(reason).split()) or type(reason).__name__
    return InputError(
        f"cannot read {path}: it is damaged, incomplete, or no {path.suffix} data ({text}). "
        f"Expected data written by pgode.data.files.write. Write or copy it again."
    )
