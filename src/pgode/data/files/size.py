"""How much a data set will take on disk, before it is written."""

import zlib

import numpy as np
import xarray as xr
from jaxtyping import Shaped

WORTH = 2**25
"""Bytes from which on an estimate is made; what is smaller is written in less time."""
PIECE = 2**16
PIECES = 8
CAUTION = 0.8
"""Share of the estimate that counts: work that might fit is not to be refused."""


def least_bytes(dataset: xr.Dataset) -> float:
    """Bytes that a compressed file will take at least; 0 for data that are soon written.

    Estimated from some pieces of each variable, compressed as NetCDF does it, since numbers take
    anything from all of their bytes to a hundredth.
    """
    if dataset.nbytes < WORTH:
        return 0.0
    return CAUTION * sum(_bytes(each.values) for each in dataset.variables.values())


def _bytes(values: Shaped[np.ndarray, "..."]) -> float:
    if values.nbytes <= PIECE or values.dtype.kind not in "fiub":
        return 0.0
    flat = np.ascontiguousarray(values).reshape(-1)
    length = max(PIECE // values.itemsize, 1)
    starts = np.linspace(0, max(len(flat) - length, 0), PIECES).astype(np.int64)
    pieces = [_compressed(flat[start : start + length]) for start in starts]
    return values.nbytes * float(np.mean(pieces)) / (length * values.itemsize)


def _compressed(piece: Shaped[np.ndarray, " value"]) -> int:
    """Bytes of a piece after the shuffling of bytes and the compression of HDF5."""
    shuffled = piece.view(np.uint8).reshape(len(piece), -1).T
    return len(zlib.compress(shuffled.tobytes(), 4))
