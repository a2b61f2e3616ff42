"""The summary of trajectories that `pgode info` prints."""

import json
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Shaped

from pgode.data.schema import SPLITS


def summary(ds: xr.Dataset, observed: int | None = None) -> dict[str, Any]:
    """Plain numbers, text, lists and dicts, ready for JSON (a range without values is None).

    `observed` is the number of known values, where it was counted already.
    """
    if observed is None:
        observed = ds["observed"].values.sum()
    times, split = ds["times"].values, ds["split"].values
    known = np.isfinite(times)
    possible = ds["present"].values.astype(np.int64).sum(axis=1) @ known.sum(axis=1)
    fields = ("name", "role", "variable", "units")
    columns = ("feature", "feature_role", "feature_variable", "feature_units")
    rows = zip(*(ds[column].values.tolist() for column in columns), strict=True)
    return {
        "title": ds.attrs["title"],
        "systems": ds.sizes["system"],
        "splits": {name: int((split == name).sum()) for name in SPLITS if (split == name).any()},
        "objects": _range(ds["present"].values.sum(axis=1)),
        "frames": _range(known.sum(axis=1)),
        "times": _range(times),
        "time_step": _range(np.diff(times, axis=1)),
        "time_units": ds.attrs["time_units"],
        "features": [dict(zip(fields, row, strict=True)) for row in rows],
        "observed_fraction": float(observed / (possible * ds.sizes["feature"])),
        "parameters": {
            name: {"units": units, "range": _range(column)}
            for name, units, column in zip(
                ds["parameter"].values.tolist(),
                ds["parameter_units"].values.tolist(),
                ds["parameters"].values.T,
                strict=True,
            )
        },
        **_kinds(ds),
        **_annotations(ds),
        "graphs": ds.sizes["graph"],
        "edges": ds.sizes["edge"],
        "edge_attributes": ds["edge_attribute"].values.tolist(),
        "generator": ds.attrs["generator"],
        "generator_version": ds.attrs["generator_version"],
        "generator_settings": json.loads(ds.attrs["generator_settings"]),
        "seed": ds.attrs["seed"],
        "content_hash": ds.attrs["content_hash"],
    }


def per_system(fewest: int, most: int, noun: str) -> str:
    """A number of things of each system: "10 objects per system", "1 to 77 objects per system"."""
    count = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{count} {noun}{'' if most == 1 else 's'} per system"


def _kinds(ds: xr.Dataset) -> dict[str, Any]:
    """Number of objects of each true kind, where it is stored."""
    if "kind" not in ds:
        return {}
    kind, count = np.unique(ds["kind"].values[ds["present"].values], return_counts=True)
    return {"kinds": dict(zip(kind.astype(str).tolist(), count.tolist(), strict=True))}


def _annotations(ds: xr.Dataset) -> dict[str, Any]:
    """Constants, known inputs and dates, where there are any."""
    found: dict[str, Any] = {}
    if "constants" in ds:
        columns = zip(ds["constant"].values.tolist(), ds["constants"].values.T, strict=True)
        found["constants"] = {name: _range(column) for name, column in columns}
    if "inputs" in ds:
        found["inputs"] = ds["input"].values.tolist()
    if "time_origin" in ds.attrs:
        found["time_origin"] = ds.attrs["time_origin"]
    return found


def _range(numbers: Shaped[np.ndarray, "..."]) -> dict[str, float | int] | None:
    known = numbers[np.isfinite(numbers)]
    return {"min": known.min().item(), "max": known.max().item()} if known.size else None
