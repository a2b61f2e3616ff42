"""Graphs of PyTorch Geometric (PyG) as trajectories.

Nothing here imports torch or torch_geometric: a `Data` is any object with an `edge_index`, a tensor
anything with a method `numpy`. The way back, `to_pyg`, needs torch and is part of `pgode.runs`.
"""

from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Shaped

from pgode.data.files.pyg.graphs import edges_of_systems
from pgode.data.files.pyg.system import System, array_of, grouped, has_constants, read_system
from pgode.data.labels.columns import Names
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError

__all__ = ["from_pyg"]

AXES = ("x", "y", "z")
FILL = {"constants": np.nan, "inputs": np.nan, "group": -1, "kind": -1, "object_names": ""}
"""Attributes with one row per object that `to_pyg` writes, and what absent objects have there."""
SHARED = (
    *("features", "roles", "variables", "units", "transforms", "time_units", "time_origin"),
    *("parameter_names", "parameter_units", "constant_names", "input_names", "topology", "title"),
    *("generator", "generator_version", "generator_settings"),
)
"""Arguments of `Trajectories.build` that all systems have in common; `to_pyg` writes them, too."""
NUMBERS = ("seed", "graph_cutoff", "graph_interval")
"""Those that are numbers, which a batch of graphs makes tensors."""


def from_pyg(
    data: Any,
    *,
    features: Names | None = None,
    times: Any = None,
    edge_attributes: Names | None = None,
    y: Literal["later", "ignore"] = "later",
    split: Names | None = None,
    time_units: str | None = None,
    source: str = "the given graphs",
) -> Trajectories:
    """Trajectories of PyTorch Geometric `Data`; the inverse of `pgode.to_pyg`.

    A system is one `Data` whose `x` (or `pos` and `vel`) is [objects, time, features], or a
    sequence of snapshots, each with [objects, features], as in a temporal signal. Give one system
    or a list of them; a plain list of snapshots is one system. Features are those of `pos`
    (positions), `vel` (velocities), then `x`; an `x` without time beside a `pos` with time holds
    constants of objects. `y` continues the frames: [objects, later time, features], or in a
    snapshot the next one; `y="ignore"` leaves it out. NaN is a missing value.

    `edge_index` is (sender, receiver). `edge_weight`, or an `edge_attr` of one column, is the
    weight; further columns of `edge_attr` are called `edge_attributes`. `times` are (time),
    (system, time) or the time between frames; without it the attribute `time` of the graphs, else
    0, 1, 2, ... What else `to_pyg` writes (names, split, parameters, units, ...) is read back.
    """
    one_of("way to read y", y, ("later", "ignore"))
    systems = [
        read_system(graphs, f"system {k} of {source}", later=y == "later")
        for k, graphs in enumerate(grouped(data, source))
    ]
    first, width = systems[0].first, systems[0].states.shape[2]
    for k, system in enumerate(systems):
        if system.states.shape[2] != width:
            raise InputError(
                f"system {k} of {source} has {system.states.shape[2]} features, but system 0 has "
                f"{width}. Expected the same features in all systems. Give them all the same "
                f"columns."
            )
    shared = _feature_columns(first, width)
    shared |= {name: getattr(first, name) for name in SHARED if hasattr(first, name)}
    numbers = (name for name in NUMBERS if hasattr(first, name))
    shared |= {name: array_of(getattr(first, name)).item() for name in numbers}
    shared |= {} if features is None else {"features": list(features)}
    shared |= {} if time_units is None else {"time_units": time_units}
    states = _padded([each.states for each in systems], np.nan)
    clock = _padded([each.times for each in systems], np.nan)
    if times is not None:
        clock = _given_times(times, clock)
    present = _padded([np.ones(len(each.states), dtype=bool) for each in systems], False)
    parts = {name: _of_all(systems, name) for name in FILL}
    per_object: dict[str, Any] = {
        name: _padded(arrays, FILL[name]) for name, arrays in parts.items() if arrays is not None
    }
    if "constants" not in per_object and has_constants(first):
        constants = _padded([array_of(each.first.x) for each in systems], np.nan)
        shared.setdefault("constant_names", [f"constant{k}" for k in range(constants.shape[2])])
        per_object["constants"] = constants
    parameters = _of_all(systems, "parameters")
    if parameters is not None:
        count = parameters[0].shape[-1]
        shared.setdefault("parameter_names", [f"parameter{k}" for k in range(count)])
    return Trajectories.build(
        states,
        clock,
        edges=edges_of_systems(systems, clock, edge_attributes, source, moved=times is not None),
        observed=~np.isnan(states),
        present=present,
        split=_of_all(systems, "split") if split is None else split,
        system_names=_of_all(systems, "name"),
        parameters=parameters,
        source=source,
        **shared,
        **per_object,
    )


def _of_all(systems: list[System], name: str) -> list[Shaped[np.ndarray, "..."]] | None:
    """An attribute of every system; None unless all have it."""
    found = [system.attribute(name) for system in systems]
    return None if any(each is None for each in found) else [array_of(each) for each in found]


def _padded(arrays: list[Shaped[np.ndarray, "..."]], fill: Any) -> Shaped[np.ndarray, "system ..."]:
    """Arrays of different sizes as one, with a new first axis."""
    shape = tuple(max(sizes) for sizes in zip(*(each.shape for each in arrays), strict=True))
    kind = np.result_type(*(each.dtype for each in arrays))
    if np.issubdtype(kind, np.floating):
        kind = np.dtype(np.float64)
    whole = np.full((len(arrays), *shape), fill, dtype=kind)
    for row, each in zip(whole, arrays, strict=True):
        row[tuple(slice(size) for size in each.shape)] = each
    return whole


def _given_times(times: Any, clock: Float[np.ndarray, "system time"]) -> Any:
    """Times that replace those of the graphs, for as many frames as each system has."""
    given = array_of(times)
    if given.ndim == 0:
        return np.where(np.isnan(clock), np.nan, np.arange(clock.shape[1]) * float(given))
    if given.shape == clock.shape[1:]:
        return np.where(np.isnan(clock), np.nan, given)
    return given


def _feature_columns(graph: Any, width: int) -> dict[str, Any]:
    """Names and roles of features that come from pos and vel; numbers for the others."""
    pos, vel = (getattr(graph, name, None) for name in ("pos", "vel"))
    axes = 0 if pos is None else array_of(pos).shape[-1]
    rates = 0 if vel is None else array_of(vel).shape[-1]
    if axes == rates == 0:
        return {"features": [f"feature{k}" for k in range(width)]}
    titles = AXES if max(axes, rates) <= len(AXES) else [str(k) for k in range(max(axes, rates))]
    rest = width - axes - rates
    moving = ["velocity" if axes == rates else "value"] * rates
    prefix = "" if tuple(titles) == AXES else "q"
    return {
        "features": [
            *(f"{prefix}{title}" for title in titles[:axes]),
            *(f"v{title}" for title in titles[:rates]),
            *(f"feature{k}" for k in range(rest)),
        ],
        "roles": ["position"] * axes + moving + ["value"] * rest,
    }
