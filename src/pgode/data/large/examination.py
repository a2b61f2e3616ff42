"""The one pass over stored data when they are opened: every check, and the hash."""

import xarray as xr

from pgode.data.large.scan import examined, examined_inputs
from pgode.data.large.stored import StoredArray
from pgode.data.schema import content_hash


def examined_hash(ds: xr.Dataset, source: str) -> str:
    """The content hash of a dataset whose states stay in a file, which are checked on the way.

    A file of some gigabytes takes a while to read, so it is read once.
    """
    states = ds["states"].variable.data
    names = ds["feature"].values.tolist()
    transforms = ("",) * len(names)
    if "feature_transform" in ds.variables:
        transforms = tuple(ds["feature_transform"].values.tolist())
    pieces = {"states": examined(states, ds["times"].values, names, transforms, source)}
    inputs = ds["inputs"].variable.data if "inputs" in ds else None
    if isinstance(inputs, StoredArray):
        labels = ds["input"].values.tolist()
        pieces["inputs"] = examined_inputs(inputs, labels, source)
    return content_hash(ds, pieces)
