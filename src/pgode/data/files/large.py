"""Files that exceed a share of memory: opened, and read in pieces from then on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from pgode.data.files.guard.damage import damaged
from pgode.data.large.edges import COLUMNS, EdgeColumn, StoredEdges, graph_ranges
from pgode.data.large.stored import BLOCK, Place, StoredArray
from pgode.data.schema import REQUIRED, STATE_DIMS
from pgode.runtime.memory import refuse_beyond_memory, room_for_data

PACKED = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
"""Entries of an encoding under which stored numbers are not those that they stand for."""
WORK = 4
"""Times that what stays in memory is held there: times of splits, checks and the like."""

Raw = Callable[[str], Any]
"""Opens a variable of the file as an array that is read by slices."""


def is_large(ds: xr.Dataset) -> bool:
    """Whether the values of a file take more than a share of memory, in the types used there."""
    return sum(_held_bytes(str(name), each) for name, each in ds.variables.items()) > (
        room_for_data()
    ) and all(name in ds.variables for name in REQUIRED)


def loaded(path: Path, ds: xr.Dataset, raw: Callable[[Path], Raw]) -> xr.Dataset:
    """The content of an opened file: in memory, or, if it is large, left there where it can be."""
    if is_large(ds):
        return opened(path, ds, raw(path))
    with ds:
        return ds.load()


def opened(path: Path, ds: xr.Dataset, raw: Raw) -> xr.Dataset:
    """The dataset with states, masks, known inputs and, if they are many, edges left in the file.

    `ds` is the opened file. Everything else is read now.
    """
    dims = {"states": STATE_DIMS, "observed": STATE_DIMS, "inputs": (*STATE_DIMS[:3], "input")}
    left = {
        name: StoredArray(FileArray.of(path, name, ds[name].variable, order, raw))
        for name, order in dims.items()
        if name in ds.variables and set(ds[name].dims) == set(order)
    }
    edges = sum(_held_bytes(name, ds[name].variable) for name in COLUMNS)
    columns = COLUMNS if edges > room_for_data() // 4 and _are_edges(ds) else ()
    kept = ds.drop_vars([*left, *columns])
    resident = sum(_held_bytes(str(name), each) for name, each in kept.variables.items())
    refuse_beyond_memory(
        WORK * resident,
        f"what stays in memory of {path} (times, parameters, names and graphs)",
        "Split the file into several, or leave names and constants out.",
    )
    try:
        small = kept.load()
    except Exception as error:  # HDF5, codecs and stores report damage by errors of many types.
        raise damaged(path, error) from error
    small = small.assign({name: (dims[name], array) for name, array in left.items()})
    return _with_stored_edges(path, ds, small, raw) if columns else small


@dataclass(frozen=True, eq=False)
class FileArray:
    """A variable of a file with dims (system, object, time, column) in any order."""

    path: Path
    name: str
    values: Any
    """An array of the file, or the variable as xarray decodes it if its numbers are packed."""
    axes: tuple[int, ...]
    """Where the file has systems, objects, frames and columns."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...]

    @classmethod
    def of(
        cls, path: Path, name: str, variable: xr.Variable, dims: tuple[str, ...], raw: Raw
    ) -> "FileArray":
        """The variable of this name."""
        plain = is_plain(variable.encoding)
        axes = tuple(variable.dims.index(dim) for dim in dims)
        array = raw(name)
        chunks = getattr(array, "chunks", None) or variable.shape
        _refuse_large_chunks(path, name, chunks, variable.dtype)
        return cls(
            path,
            name,
            array if plain else variable,
            axes,
            tuple(variable.shape[axis] for axis in axes),
            np.dtype(variable.dtype),
            # What is not stored in chunks can be cut anywhere.
            tuple(chunks[axis] if getattr(array, "chunks", None) else 1 for axis in axes),
        )

    def read(self, place: Place) -> Shaped[np.ndarray, "system object time column"]:
        """The values of a block."""
        key = [slice(None)] * 4
        for axis, part in zip(self.axes, place, strict=False):
            key[axis] = part
        values = _read(self.path, self.values, tuple(key))
        return values.transpose(self.axes)


def is_plain(encoding: Mapping[Any, Any]) -> bool:
    """Whether numbers are stored as they are; NaN that stands for a missing number is plain."""
    for name in PACKED:
        value = encoding.get(name)
        if value is not None and not (isinstance(value, float | np.floating) and np.isnan(value)):
            return False
    return True


def _read(path: Path, array: Any, key: tuple[Any, ...]) -> Shaped[np.ndarray, "..."]:
    try:
        values = array[key]
        return np.asarray(values.values if isinstance(values, xr.Variable) else values)
    except Exception as error:
        raise damaged(path, error) from error


def _refuse_large_chunks(path: Path, name: str, chunks: tuple[int, ...], dtype: Any) -> None:
    """A chunk is decompressed as a whole, even for one frame of it."""
    size = int(np.prod(chunks, dtype=np.int64)) * np.dtype(dtype).itemsize
    refuse_beyond_memory(
        4 * max(size, 0) if size > BLOCK else 0,
        f"{name} in {path} is stored in pieces of {' x '.join(map(str, chunks))} values, one of "
        f"which",
        "Write the file again in smaller pieces, such as nccopy -c system/1,time/1000 does.",
    )


def _are_edges(ds: xr.Dataset) -> bool:
    return all(ds[name].dims[:1] == ("edge",) for name in COLUMNS) and all(
        ds[name].dtype.kind in "iu" for name in COLUMNS[:3]
    )


def _with_stored_edges(path: Path, ds: xr.Dataset, small: xr.Dataset, raw: Raw) -> xr.Dataset:
    arrays = {
        name: raw(name) if is_plain(ds[name].encoding) else ds[name].variable for name in COLUMNS
    }

    def reader(name: str, firsts: Sequence[int], lasts: Sequence[int]) -> Shaped[np.ndarray, "..."]:
        array, runs = arrays[name], list(zip(firsts, lasts, strict=True))
        if len(runs) > 1 and hasattr(array, "oindex"):
            # A call of zarr takes a millisecond, whatever it reads.
            chosen = np.concatenate([np.arange(first, last) for first, last in runs])
            return _read(path, array.oindex, (chosen,))
        parts = [_read(path, array, (slice(first, last),)) for first, last in runs]
        return np.concatenate(parts) if parts else _read(path, array, (slice(0, 0),))

    graphs = small["graph_system"].values
    found = graph_ranges(reader, ds.sizes["edge"], len(graphs))
    names = tuple(str(name) for name in small["edge_attribute"].values)
    wide = ds["edge_attributes"].sizes.get("edge_attribute", -1) == len(names)
    if found is None or not wide or graphs.dtype.kind not in "iu":
        # Not in order, or wrong: the checks of edges in memory sort them, or say what is wrong.
        needed = sum(_held_bytes(name, ds[name].variable) for name in COLUMNS)
        advice = "Write the edges in the order of their graphs (edge_graph)."
        refuse_beyond_memory(4 * needed, f"sorting the edges of {path}", advice)
        return small.assign({name: ds[name].load() for name in COLUMNS})
    start = np.asarray(small["graph_start"].values, np.float64)
    edges = StoredEdges(reader, graphs.astype(np.int32), start, *found, names)
    columns: dict[str, Any] = {name: ("edge", EdgeColumn(edges, name)) for name in COLUMNS[:3]}
    columns["edge_attributes"] = (("edge", "edge_attribute"), EdgeColumn(edges, COLUMNS[3]))
    return small.assign(columns)


def _held_bytes(name: str, variable: xr.Variable) -> int:
    """Bytes in memory, where numbers are doubles, edges have 32 bits, and masks one byte."""
    if name in COLUMNS[:3]:
        return 4 * variable.size
    size = 1 if name in ("observed", "present") else variable.dtype.itemsize
    masks = variable.size if name == "states" else 0  # Of what was observed.
    return (8 if variable.dtype.kind == "f" else size) * variable.size + masks
