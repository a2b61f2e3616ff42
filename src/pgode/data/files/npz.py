"""Numpy archives: arrays without labels.

states (system, object, time, feature)
times (time) or (system, time)
edges (system, object, object) or (system, time, object, object); row receiver, column sender
optional: parameters (system, parameter), feature_names, parameter_names, split (system),
and the masks observed (system, object, time, feature) and present (system, object)
"""

from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from pgode.data.files.guard.archive import read_archive
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import closest
from pgode.runtime.errors import InputError

Array = Shaped[np.ndarray, "..."]

REQUIRED = ("states", "times", "edges")
OPTIONAL = ("parameters", "feature_names", "parameter_names", "split", "observed", "present")


def read(path: Path, force: bool = False) -> Trajectories:
    """Read an archive of these arrays, which has checksums, but no hash that `force` could ignore.

    Pickled arrays are refused: they could run any code.
    """
    arrays = read_archive(path, (*REQUIRED, *OPTIONAL), lambda names: _check_names(names, path))
    parameters = arrays.get("parameters")
    return Trajectories.build(
        arrays["states"],
        arrays["times"],
        edges=arrays["edges"],
        features=_names("feature", arrays.get("feature_names"), arrays["states"]),
        observed=arrays.get("observed"),
        present=arrays.get("present"),
        parameters=parameters,
        parameter_names=_names("parameter", arrays.get("parameter_names"), parameters),
        split=arrays.get("split"),
        source=str(path),
    )


def _names(noun: str, names: Array | None, labelled: Array | None) -> Array:
    """The given names, or numbers, for the last dimension of the labelled array."""
    if names is not None:
        return np.atleast_1d(names)
    width = labelled.shape[-1] if labelled is not None and labelled.ndim else 0
    return np.array([f"{noun}{k}" for k in range(width)], dtype=np.str_)


def _check_names(names: list[str], path: Path) -> None:
    for name in REQUIRED:
        if name not in names:
            raise InputError(
                f'{path} has no array "{name}"; it has {", ".join(names) or "none"}. Expected '
                f"{', '.join(REQUIRED)}, and optionally {', '.join(OPTIONAL)}. Add the array."
            )
    # A misspelt optional array would otherwise be ignored silently.
    for name in names:
        meant = closest(name, OPTIONAL, cutoff=0.85)
        if meant and name not in OPTIONAL and meant not in names:
            raise InputError(
                f'{path} has an array "{name}". Expected the name "{meant}". Rename the array.'
            )
