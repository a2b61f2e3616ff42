"""Trajectories as graphs of PyTorch Geometric (PyG)."""

import warnings
from typing import Any

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

from pgode.data.edges import Edges
from pgode.data.trajectories import Trajectories
from pgode.runtime.errors import InputError

CONTENT = ("constants", "inputs", "group", "kind")
"""Arrays with one row per object that a system's graph has as attributes, where data have them."""
RULE = ("graph_cutoff", "graph_interval")
"""Attributes of data whose edges join objects nearer than a cutoff."""


def to_pyg(
    data: Trajectories, *, snapshots: bool = False, dtype: torch.dtype | None = None
) -> list[Any]:
    """PyTorch Geometric `Data` of each system; `pgode.from_pyg` reads them back without loss.

    `x` is [objects, time, features], NaN where nothing was observed, `time` the time of each frame,
    `edge_index` (sender, receiver) with `edge_weight` and, for further attributes, `edge_attr`.
    Names, split, parameters, constants, known inputs and units are attributes, too. With
    `snapshots` a system is a list with a `Data` for each frame, with x [objects, features] and the
    edges in force then; systems whose graph changes have no other form. `dtype` is that of all
    floating-point tensors, in doubt that of the data, which is double precision.
    """
    make = _data_class()
    edges = data.edges
    counts = np.bincount(edges.graph_system, minlength=data.systems)
    for system in np.flatnonzero(counts > 1)[:1]:
        if not snapshots:
            raise InputError(
                f"{data.system_label(system)} has {counts[system]} graphs one after the other. "
                f"Expected one, since a Data has one edge_index. Use to_pyg(data, snapshots=True), "
                f"which gives a Data per frame."
            )
    return [_system(data, edges, k, make, dtype, snapshots) for k in range(data.systems)]


def _data_class() -> Any:
    try:
        # What it uses of torch that is to go is no concern of a user of pgode.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from torch_geometric.data import Data
    except ImportError:
        raise InputError(
            "to_pyg needs the package torch_geometric, which is not installed. Expected PyTorch "
            "Geometric 2.4 or later. Install it with pip install torch_geometric."
        ) from None
    return Data


def _system(
    data: Trajectories,
    edges: Edges,
    system: int,
    make: Any,
    dtype: torch.dtype | None,
    snapshots: bool,
) -> Any:
    objects, frames = int(data.n_objects[system]), int(data.n_frames[system])
    states = data.states[system, :objects, :frames]
    times = data.times[system, :frames]
    about = _attributes(data, system, dtype)
    first = int(np.searchsorted(edges.graph_system, system))
    count = int((edges.graph_system == system).sum())
    starts = edges.graph_start[first : first + count]
    if not snapshots:
        return make(
            x=_tensor(states, dtype),
            time=_tensor(times, dtype),
            graph_start=_tensor(starts[0], dtype),
            **_edges(edges, first, dtype),
            **about,
        )
    inputs = about.pop("inputs", None)
    found = []
    for frame, time in enumerate(times):
        graph = max(int(np.searchsorted(starts, time, side="right")) - 1, 0)
        found.append(
            make(
                x=_tensor(states[:, frame], dtype),
                time=_tensor(time, dtype),
                graph_start=_tensor(starts[0], dtype),
                **({} if inputs is None else {"inputs": inputs[:, frame]}),
                **_edges(edges, first + graph, dtype),
                **about,
            )
        )
    return found


def _edges(edges: Edges, graph: int, dtype: torch.dtype | None) -> dict[str, Any]:
    chosen = edges.edge_graph == graph
    ends = np.stack([edges.edge_sender[chosen], edges.edge_receiver[chosen]]).astype(np.int64)
    attributes = edges.edge_attributes[chosen]
    found: dict[str, Any] = {
        "edge_index": torch.from_numpy(ends),
        "edge_weight": _tensor(attributes[:, 0], dtype),
    }
    if len(edges.attribute_names) > 1:
        found["edge_attr"] = _tensor(attributes[:, 1:], dtype)
        found["edge_attribute_names"] = list(edges.attribute_names[1:])
    return found


def _attributes(data: Trajectories, system: int, dtype: torch.dtype | None) -> dict[str, Any]:
    """All that data say of a system beyond states and edges, by the names of `from_pyg`."""
    dataset, attrs = data.dataset, data.dataset.attrs
    objects, frames = int(data.n_objects[system]), int(data.n_frames[system])
    found: dict[str, Any] = {
        "split": str(data.split[system]),
        "parameters": _tensor(data.parameters[system], dtype),
        "time_units": data.time_units,
        "time_origin": data.time_origin,
        "topology": data.topology,
    }
    for name in CONTENT:
        if name in dataset:
            rows = dataset[name].values[system, :objects]
            found[name] = _tensor(rows[:, :frames] if name == "inputs" else rows, dtype)
    if "system_name" in dataset:
        found["name"] = str(dataset["system_name"].values[system])
    if "object_name" in dataset:
        found["object_names"] = dataset["object_name"].values[system, :objects].tolist()
    labels = {"features": "feature", "transforms": "feature_transform"}
    labels |= {name: f"feature_{name[:-1]}" for name in ("roles", "variables")}
    labels |= {"units": "feature_units", "parameter_units": "parameter_units"}
    labels |= {f"{name}_names": name for name in ("parameter", "constant", "input")}
    for name, stored in labels.items():
        if stored in dataset.variables:
            found[name] = dataset[stored].values.tolist()
    kept = ("title", "generator", "generator_version", "generator_settings", "seed")
    return found | {name: attrs[name] for name in (*kept, *RULE) if name in attrs}


def _tensor(array: Shaped[np.ndarray, "..."], dtype: torch.dtype | None) -> Tensor:
    tensor = torch.from_numpy(np.array(array))
    return tensor.to(dtype) if tensor.is_floating_point() and dtype is not None else tensor
