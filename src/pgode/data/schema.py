"""The schema of a dataset of trajectories: dimensions, text, graphs and the content hash."""

import hashlib
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from pgode.data.edges import Edges
from pgode.data.large.edges import COLUMNS, EdgeColumn, StoredEdges
from pgode.data.large.stored import StoredArray
from pgode.runtime.errors import InputError

SPLITS = ("train", "val", "test", "ood")
"""Training, validation, test in distribution and test out of distribution.

The order is part of the random streams of simulated data, so it never changes.
"""

STATE_DIMS = ("system", "object", "time", "feature")
EDGE_FIELDS = ("graph_system", "graph_start", "edge_graph", "edge_receiver", "edge_sender")
REQUIRED = ("states", "times", "feature", *EDGE_FIELDS, "edge_attributes", "edge_attribute")


def strings(texts: Sequence[str]) -> Shaped[np.ndarray, " text"]:
    """Fixed-width text: the string type that numpy, NetCDF and zarr all store without objects."""
    return np.array(tuple(texts), dtype=np.str_)


def values(ds: xr.Dataset, name: str, dims: tuple[str, ...], source: str) -> Any:
    """The values of a variable in this order of dims, whatever order it is stored in."""
    variable = ds[name]
    if set(variable.dims) != set(dims):
        stored = ", ".join(str(dim) for dim in variable.dims)
        raise InputError(
            f"{name} in {source} has the dimensions ({stored}). Expected ({', '.join(dims)}). "
            f"Rename the dimensions of the variable."
        )
    if isinstance(variable.variable.data, StoredArray) and variable.dims == dims:
        return variable.data
    return variable.transpose(*dims).values


def is_stored(ds: xr.Dataset) -> bool:
    """Whether values of the dataset stay in a file."""
    return any(isinstance(each.data, StoredArray | EdgeColumn) for each in ds.variables.values())


def edges_of(ds: xr.Dataset, source: str) -> Edges:
    """The graphs of a dataset, not yet validated."""
    column = ds["edge_receiver"].variable.data
    if isinstance(column, EdgeColumn):
        return column.edges
    graph_system, graph_start, edge_graph, edge_receiver, edge_sender = (
        values(ds, name, (name.split("_")[0],), source) for name in EDGE_FIELDS
    )
    return Edges(
        graph_system,
        graph_start,
        edge_graph,
        edge_receiver,
        edge_sender,
        values(ds, "edge_attributes", ("edge", "edge_attribute"), source),
        tuple(str(name) for name in ds["edge_attribute"].values),
    )


def with_edges(ds: xr.Dataset, edges: Edges) -> xr.Dataset:
    """The dataset with these graphs instead of its own, and the hash of its new content.

    The hash of data that stay in a file is left out: it takes a pass over them, and is made when
    it is asked for.
    """
    kept = ds.drop_dims([dim for dim in ("graph", "edge", "edge_attribute") if dim in ds.dims])

    def column(name: str) -> Any:
        if isinstance(edges, StoredEdges) and name in COLUMNS:
            return EdgeColumn(edges, name)
        return getattr(edges, name)

    columns: dict[str, Any] = {f: (f.split("_")[0], column(f)) for f in EDGE_FIELDS}
    columns["edge_attributes"] = (("edge", "edge_attribute"), column("edge_attributes"))
    complete = kept.assign(columns).assign_coords(edge_attribute=strings(edges.attribute_names))
    if is_stored(complete):
        complete.attrs.pop("content_hash", None)
        return complete
    return complete.assign_attrs(content_hash=content_hash(complete))


Pieces = Mapping[str, Iterator[Shaped[np.ndarray, "..."]]]


def content_hash(ds: xr.Dataset, pieces: Pieces | None = None) -> str:
    """SHA-256 over names, shapes and little-endian values of every variable, in name order.

    Provenance is left out: the same numbers are the same data, whatever their origin. Text is
    hashed as JSON because its stored width depends on the file format. Values that stay in a file
    are read in pieces; `pieces` may hand them over for whoever reads them anyway.
    """
    given = pieces or {}
    entries = []
    for name, variable in ds.variables.items():
        held = variable.data
        stored = isinstance(held, StoredArray | EdgeColumn)
        found = given.get(str(name)) or (held.pieces() if stored else iter((variable.values,)))
        dims = tuple(str(dim) for dim in variable.dims)
        entries.append(Entry(str(name), dims, tuple(variable.shape), found))
    return hash_of(entries, ds.attrs)


class Entry(NamedTuple):
    """A variable as it is hashed: its values come in pieces, in the order of an array."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    pieces: Iterator[Shaped[np.ndarray, "..."]]


def hash_of(entries: Iterable[Entry], attributes: Mapping[Any, Any]) -> str:
    """The content hash of variables that need not be in one dataset."""
    digest = hashlib.sha256()
    for name, dims, shape, pieces in sorted(entries, key=operator.attrgetter("name")):
        digest.update(json.dumps([name, dims, shape]).encode())
        for array in pieces:
            if array.dtype.kind in "US":
                digest.update(json.dumps(array.tolist()).encode())
            else:
                digest.update(_bytes(array))
    digest.update(json.dumps(attributes["time_units"]).encode())
    if "time_origin" in attributes:
        digest.update(json.dumps(attributes["time_origin"]).encode())
    return digest.hexdigest()


def _bytes(array: Shaped[np.ndarray, "..."]) -> memoryview:
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(np.uint8).data
