"""Shared by NetCDF and zarr: the stored variables and their chunks."""

import numpy as np
import xarray as xr

from pgode.data.files.guard.integrity import ATTRIBUTES, attribute_hash
from pgode.data.trajectories import Trajectories

CHUNK_BYTES = 2**20
LARGE = 2**28
"""Bytes of a variable from which on it has smaller chunks."""
LARGE_CHUNK_BYTES = 2**18
LONG_CHUNK_BYTES = 2**16
"""Bytes of a chunk of a series that is longer than a chunk."""
OBJECTS, FRAMES = 8, 64
"""Objects that such a chunk holds about, and frames that it holds at least."""


def stored(trajectories: Trajectories) -> xr.Dataset:
    """The dataset a file holds; the mask is left out where everything was observed."""
    dataset = trajectories.dataset
    kept = dataset.drop_vars("observed") if trajectories.observed.all() else dataset
    return kept.assign_attrs({ATTRIBUTES: attribute_hash(dataset.attrs)})


def large_chunks(dims: tuple[str, ...], shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Smaller chunks for data that may be read window by window, of values of `size` bytes.

    A chunk is decompressed as a whole, so one that held many systems would make a window of a
    single one cost as much as all of them. Long series are cut along time, and along objects for
    the sake of whatever reads one series after the other.
    """
    if dims[:1] != ("system",) or "time" not in dims or len(shape) != 4:
        row = max(1, int(np.prod(shape[1:], dtype=np.int64)) * size)
        return (max(1, min(shape[0], LARGE_CHUNK_BYTES // 4 // row)), *shape[1:])
    _, objects, frames, columns = (max(1, n) for n in shape)
    row = objects * frames * columns * size
    if row <= LARGE_CHUNK_BYTES:
        return (max(1, min(shape[0], LARGE_CHUNK_BYTES // row)), objects, frames, columns)
    together = LONG_CHUNK_BYTES // (min(OBJECTS, objects) * columns * size)
    together = max(together, min(FRAMES, frames))
    few = max(LONG_CHUNK_BYTES // (together * columns * size), 1)
    return (1, _even(objects, few), _even(frames, together), columns)


def _even(size: int, most: int) -> int:
    """A length of at most `most` that cuts `size` evenly: chunks are stored whole, ends too."""
    return -(-size // -(-size // most))


def chunks(variable: xr.Variable) -> tuple[int, ...]:
    """Chunks of about a megabyte of whole rows, so that one system is read in one piece."""
    if not variable.shape:
        return ()
    if variable.nbytes > LARGE:
        dims = tuple(str(dim) for dim in variable.dims)
        return large_chunks(dims, variable.shape, variable.dtype.itemsize)
    row = max(1, variable.nbytes // max(1, variable.shape[0]))
    return (
        max(1, min(variable.shape[0], CHUNK_BYTES // row)),
        *(max(1, n) for n in variable.shape[1:]),
    )
