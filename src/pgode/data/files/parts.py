"""Writing data that never are in memory as a whole: part after part, each of some systems."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import numcodecs  # type: ignore[import-untyped]
import numpy as np
import xarray as xr
import zarr
from jaxtyping import Shaped

from pgode.data.files.guard.integrity import ATTRIBUTES, CONTENT, attribute_hash
from pgode.data.files.layout import large_chunks
from pgode.data.files.netcdf import opened_store
from pgode.data.large.edges import COLUMNS
from pgode.data.large.stored import BLOCK
from pgode.data.schema import STATE_DIMS, Entry, hash_of
from pgode.data.trajectories import Trajectories
from pgode.runtime.disk.unfailing import UnfailingFile, unfailing_file, uninterrupted
from pgode.runtime.errors import InputError
from pgode.runtime.files import replacing
from pgode.runtime.outputs import claim_output

STREAMED = {
    "states": STATE_DIMS,
    "observed": STATE_DIMS,
    "inputs": (*STATE_DIMS[:3], "input"),
    **{name: ("edge",) for name in COLUMNS[:3]},
    COLUMNS[3]: ("edge", "edge_attribute"),
}
"""Variables that are written at once; the others are kept until the end."""
GROWING = ("system", "graph", "edge")


class Sink(Protocol):
    """A file that grows."""

    def append(self, name: str, values: Shaped[np.ndarray, "..."]) -> None:
        """Add values at the end of a variable, which is made at the first call."""
        ...

    def rows(self, name: str) -> int:
        """Rows that were appended to a variable; 0 if it was not made."""
        ...

    def read(self, name: str, rows: slice) -> Shaped[np.ndarray, "..."]:
        """Rows that were appended."""
        ...

    def close_with(self, small: xr.Dataset) -> None:
        """Add all that was not appended."""
        ...


def write_parts(
    parts: Iterable[Trajectories],
    path: str | Path,
    *,
    compress: bool = True,
    overwrite: bool = False,
) -> None:
    """Write systems that come in parts into one file (.nc or .zarr); a part must fit into memory.

    All parts have the same objects, frames and features on their axes, and the same attributes as
    the first. `compress=False` is faster, and takes the disk space of the plain numbers.
    An existing file, or a zarr folder that pgode wrote, is replaced only with `overwrite`.
    """
    claim_output(path, overwrite=overwrite, folder=Path(path).suffix.lower() == ".zarr")
    _write(parts, Path(path), compress, "")


def write_stored(data: Trajectories, path: Path) -> None:
    """Write data that stay in another file, some systems at a time."""
    states = data.stored("states")
    assert states is not None
    _write((data.select(rows) for rows in states.row_blocks()), path, True, data.hash)


def _write(parts: Iterable[Trajectories], path: Path, compress: bool, content_hash: str) -> None:
    make = SINKS.get(path.suffix.lower())
    if make is None:
        raise InputError(
            f"cannot write {path} in parts: the ending {path.suffix or '(none)'} is not known. "
            f"Expected one of {', '.join(SINKS)}. Choose another output path."
        )
    with replacing(path) as temporary, make(temporary, compress) as sink:
        whole = _filled(sink, parts, path)
        whole.attrs[CONTENT] = content_hash or hash_of(_entries(sink, whole), whole.attrs)
        whole.attrs[ATTRIBUTES] = attribute_hash(whole.attrs)
        sink.close_with(whole)


def _entries(sink: Sink, small: xr.Dataset) -> Iterator[Entry]:
    """All variables, of which those that were appended are read again.

    Their hash begins with the number of all rows, which is known only at the end.
    """
    for name, variable in small.variables.items():
        dims = tuple(str(dim) for dim in variable.dims)
        yield Entry(str(name), dims, variable.shape, iter((variable.values,)))
    first = sink.read("states", slice(0, 1)).shape
    for name, dims in STREAMED.items():
        count = sink.rows(name)
        if not count and name == "observed":  # Everything was observed.
            yield Entry(name, dims, (sink.rows("states"), *first[1:]), _ones(sink, first))
        elif count or name in COLUMNS:
            shape = (count, *sink.read(name, slice(0, 0)).shape[1:])
            yield Entry(name, dims, shape, _rows(sink, name, count))


def _ones(sink: Sink, shape: tuple[int, ...]) -> Iterator[Shaped[np.ndarray, "..."]]:
    for _ in range(sink.rows("states")):
        yield np.ones((1, *shape[1:]), bool)


def _rows(sink: Sink, name: str, count: int) -> Iterator[Shaped[np.ndarray, "..."]]:
    step = max(BLOCK // max(sink.read(name, slice(0, 1)).nbytes, 1), 1)
    for start in range(0, count, step):
        yield sink.read(name, slice(start, min(start + step, count)))


def _filled(sink: Sink, parts: Iterable[Trajectories], path: Path) -> xr.Dataset:
    """What is left to be written after all parts have been appended."""
    kept: list[xr.Dataset] = []
    systems = graphs = 0
    masked = False
    for number, part in enumerate(parts):
        data = part.in_memory()
        dataset = data.dataset
        _check_alike(kept[0] if kept else dataset, dataset, number, path)
        complete = bool(data.observed.all())
        if not complete and not masked:
            # Everything before was observed, which is only now worth a mask.
            for before in kept:
                shape = (before.sizes["system"], *data.observed.shape[1:])
                sink.append("observed", np.ones(shape, bool))
            masked = True
        for name in STREAMED:
            if name not in dataset or (name == "observed" and not masked):
                continue
            values = dataset[name].values
            sink.append(name, values + np.int32(graphs) if name == "edge_graph" else values)
        small = dataset.drop_vars([name for name in STREAMED if name in dataset])
        kept.append(small.assign(graph_system=small["graph_system"] + np.int32(systems)))
        systems, graphs = systems + data.systems, graphs + dataset.sizes["graph"]
    if not kept:
        raise InputError(
            f"there is nothing to write to {path}: no part was given. Expected at least one. Check "
            f"what makes the parts."
        )
    return _joined(kept)


def _check_alike(first: xr.Dataset, part: xr.Dataset, number: int, path: Path) -> None:
    """Refuse a part with other axes or variables than the first."""
    for what, mine, others in (
        ("features", part["feature"].values.tolist(), first["feature"].values.tolist()),
        ("objects and frames", _sizes(part), _sizes(first)),
        ("variables", _small_names(part), _small_names(first)),
    ):
        if mine != others:
            raise InputError(
                f"part {number} of {path} has the {what} {mine}, but the first part has {others}. "
                f"Expected the same in all parts. Pad shorter systems, or write two files."
            )


def _sizes(ds: xr.Dataset) -> list[int]:
    # The first part is kept without its states, so sizes come from what every part keeps.
    return [ds["present"].sizes["object"], ds["times"].sizes["time"]]


def _small_names(ds: xr.Dataset) -> list[str]:
    return sorted(str(name) for name in ds.variables if name not in STREAMED)


def _joined(kept: list[xr.Dataset]) -> xr.Dataset:
    first = kept[0]
    joined: dict[str, Any] = {}
    for name, variable in first.variables.items():
        if variable.dims and variable.dims[0] in GROWING:
            parts = [each[name].values for each in kept]
            joined[str(name)] = (variable.dims, np.concatenate(parts), variable.attrs)
    whole = first.drop_vars(list(joined)).assign(joined)
    return whole


class _NetCDF:
    """NetCDF-4 with dimensions that have no limit."""

    def __init__(self, disk: UnfailingFile, compress: bool) -> None:
        self.disk, self.store = disk, opened_store(disk)
        self.file, self.compress = self.store.ds, compress
        self.written: dict[str, int] = {}

    def append(self, name: str, values: Shaped[np.ndarray, "..."]) -> None:
        with uninterrupted():
            self._append(name, values)
        self.disk.check()  # What did not fit on it is in memory, where it must not pile up.

    def _append(self, name: str, values: Shaped[np.ndarray, "..."]) -> None:
        dims = STREAMED[name]
        if name not in self.file.variables:
            for dim, size in zip(dims, values.shape, strict=True):
                if dim not in self.file.dimensions:
                    self.file.dimensions[dim] = None if dim in GROWING else size
            kind = np.dtype(np.int8) if values.dtype == bool else values.dtype
            packed = {"compression": "gzip", "compression_opts": 4, "shuffle": True}
            whole = (2**31, *values.shape[1:])
            variable = self.file.create_variable(
                name,
                dims,
                dtype=kind,
                chunks=large_chunks(dims, whole, kind.itemsize),
                fletcher32=True,
                **(packed if self.compress else {}),
            )
            if values.dtype == bool:
                variable.attrs["dtype"] = "bool"  # As xarray marks a mask.
        first = self.written.get(name, 0)
        last = first + len(values)
        if last > len(self.file.dimensions[dims[0]]):
            self.file.resize_dimension(dims[0], last)
        if len(values):
            self.file.variables[name][first:last] = values
        self.written[name] = last

    def rows(self, name: str) -> int:
        return self.written.get(name, 0)

    def read(self, name: str, rows: slice) -> Shaped[np.ndarray, "..."]:
        values: Shaped[np.ndarray, "..."] = self.file.variables[name][rows]
        return values.astype(bool) if name == "observed" else values

    def close_with(self, small: xr.Dataset) -> None:
        with uninterrupted():
            small.dump_to_store(self.store)


class _Zarr:
    """Zarr, format 2, whose arrays are appended to."""

    def __init__(self, path: Path, compress: bool) -> None:
        self.path, self.compress = path, compress
        self.group = zarr.open_group(path, mode="w-", zarr_format=2)

    def append(self, name: str, values: Shaped[np.ndarray, "..."]) -> None:
        if name in self.group:
            self.array(name).append(values, axis=0)
            return
        dims = STREAMED[name]
        whole = (2**31, *values.shape[1:])
        array = self.group.create_array(
            name,
            shape=values.shape,
            dtype=values.dtype,
            chunks=large_chunks(dims, whole, values.dtype.itemsize),
            compressors=[numcodecs.Zlib(level=4)] if self.compress else None,
            fill_value=None,
            attributes={"_ARRAY_DIMENSIONS": list(dims)},
            config={"write_empty_chunks": True},
        )
        array[:] = values

    def rows(self, name: str) -> int:
        return int(self.array(name).shape[0]) if name in self.group else 0

    def read(self, name: str, rows: slice) -> Shaped[np.ndarray, "..."]:
        return np.asarray(self.array(name)[rows])

    def array(self, name: str) -> "zarr.Array[Any]":
        found = self.group[name]
        assert isinstance(found, zarr.Array)
        return found

    def close_with(self, small: xr.Dataset) -> None:
        small.to_zarr(self.path, mode="a", zarr_format=2, consolidated=True)


@contextmanager
def _netcdf(path: Path, compress: bool) -> Iterator[Sink]:
    with unfailing_file(path) as file:
        with uninterrupted():
            sink = _NetCDF(file, compress)
        try:
            yield sink
        finally:
            with uninterrupted():
                sink.store.close()


@contextmanager
def _zarr(path: Path, compress: bool) -> Iterator[Sink]:
    yield _Zarr(path, compress)


SINKS: dict[str, Callable[[Path, bool], AbstractContextManager[Sink]]] = {
    ".nc": _netcdf,
    ".zarr": _zarr,
}
