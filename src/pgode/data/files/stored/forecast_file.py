"""Files of forecasts (NetCDF): their hashes, and reading them back.

The hashes are those of data files: one of all values, and one of what describes them.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from pgode.data.files.guard.damage import damaged
from pgode.data.files.guard.hdf5 import check_hdf5
from pgode.data.files.guard.integrity import ATTRIBUTES, CONTENT, compare_hashes
from pgode.data.schema import Entry, hash_of
from pgode.runtime.errors import InputError
from pgode.runtime.memory import refuse_beyond_memory

ENDINGS = (".nc", ".nc4")
HELD = {"mean", "times"}
"""Variables that every forecast has, and no data file."""
FILL = "_FillValue"
"""An attribute that is no longer one once it has been written."""
PIECE = 2**24
"""Bytes of a variable that are hashed at a time: samples may be larger than memory."""


def with_hashes(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset of a forecast with both hashes among its attributes."""
    hashes = {CONTENT: content_hash(dataset), ATTRIBUTES: attribute_hash(dataset)}
    return dataset.assign_attrs(hashes)


@contextmanager
def opened(path: Path) -> Iterator[xr.Dataset | None]:
    """The dataset of a forecast, not yet loaded; None if the file holds something else.

    Damage that is met while it is open is an `InputError`.
    """
    if path.suffix.lower() not in ENDINGS or not path.is_file():
        yield None
        return
    try:
        check_hdf5(path)
        with xr.open_dataset(
            path.absolute(),
            engine="h5netcdf",
            decode_times=False,
            decode_timedelta=False,
            cache=False,
        ) as dataset:
            yield dataset if set(dataset.variables) >= HELD else None
    except InputError:
        raise
    # The HDF5 library reports damage by errors of many types.
    except Exception as error:
        raise damaged(path, error) from None


def read(path: Path, force: bool = False) -> xr.Dataset | None:
    """The dataset of a forecast, compared with its hashes; None if the file holds something else.

    Files of earlier versions have no hashes, and are read as they are. With `force` a difference
    is a warning.
    """
    with opened(path) as dataset:
        if dataset is None:
            return None
        refuse_beyond_memory(
            dataset.nbytes, f"the forecast {path}", "Forecast fewer systems, or fewer --samples."
        )
        check(dataset, path, force)
        return dataset.load()


def check(dataset: xr.Dataset, path: Path, force: bool = False) -> str | None:
    """Compare a forecast with the hashes of its file. The content hash, None if it has none."""
    if not {CONTENT, ATTRIBUTES} & set(dataset.attrs):
        return None
    found = content_hash(dataset)
    compare_hashes(
        dataset.attrs,
        path,
        force,
        values=found,
        attributes=attribute_hash(dataset),
        named="title, condition, units, names of columns",
    )
    return found if CONTENT in dataset.attrs else None


def content_hash(dataset: xr.Dataset) -> str:
    """SHA-256 over names, shapes and values of all variables, as that of data files."""
    entries = [
        Entry(
            str(name),
            tuple(str(dim) for dim in variable.dims),
            tuple(variable.shape),
            _pieces(variable),
        )
        for name, variable in dataset.variables.items()
    ]
    units = dataset["times"].attrs.get("units", "")
    return hash_of(entries, {**dataset.attrs, "time_units": str(units)})


def attribute_hash(dataset: xr.Dataset) -> str:
    """SHA-256 over all attributes, of the forecast and of its variables, but the hashes."""
    held = {
        name: {key: _plain(each) for key, each in attributes.items() if key != FILL}
        for name, attributes in (
            ("", dataset.attrs),
            *((str(name), variable.attrs) for name, variable in dataset.variables.items()),
        )
    }
    for name in (CONTENT, ATTRIBUTES):
        held[""].pop(name, None)
    return hashlib.sha256(json.dumps(held, sort_keys=True, default=str).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """An attribute as it is after writing and reading: an array of one element is the element."""
    array = np.asarray(value)
    return array.item() if array.size == 1 else array.tolist()


def _pieces(variable: xr.Variable) -> Iterator[Shaped[np.ndarray, "..."]]:
    """The values in order. Text is one piece, as it is hashed as a whole."""
    rows = variable.shape[0] if variable.shape else 0
    if not rows or variable.dtype.kind not in "fiub":
        yield _alike(variable.values)
        return
    step = max(1, PIECE * rows // max(1, variable.nbytes))
    for first in range(0, rows, step):
        yield _alike(variable[first : first + step].values)


def _alike(values: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Values as they are after writing and reading: plain text, and one bit pattern for NaN."""
    if values.dtype.kind in "OT":
        return values.astype(object).astype(np.str_)
    if values.dtype.kind == "f" and np.isnan(values).any():
        return np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return values
