"""Numpy archives, for people who have arrays and no labels.

states (system, object, time, feature)
times (time) or (system, time)
edges (system, object, object) or (system, time, object, object); row receives, column sends
optional: parameters (system, parameter), feature_names, parameter_names, split (system),
and the masks observed (system, object, time, feature) and present (system, object)
"""

import zipfile
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from pgode.data.files.layout import damaged
from pgode.data.trajectories import Trajectories
from pgode.runtime.choices import closest
from pgode.runtime.errors import InputError

Array = Shaped[np.ndarray, "..."]

REQUIRED = ("states", "times", "edges")
OPTIONAL = ("parameters", "feature_names", "parameter_names", "split", "observed", "present")


def read(path: Path) -> Trajectories:
    """Read an archive of the arrays above. Pickled arrays are refused: they could run any code."""
    arrays = _arrays(path)
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


def _names(word: str, names: Array | None, labelled: Array | None) -> Array:
    """The given names, or numbered ones for the last dimension of what they label."""
    if names is not None:
        return np.atleast_1d(names)
    width = labelled.shape[-1] if labelled is not None and labelled.ndim else 0
    return np.array([f"{word}{k}" for k in range(width)], dtype=np.str_)


def _arrays(path: Path) -> dict[str, Array]:
    # Opened here because numpy leaves its own handle open when the archive is broken.
    with path.open("rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise damaged(path, error) from error
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise damaged(path, "it holds one array, not an archive of named ones")
        with archive:
            _check_names(archive.files, path)
            wanted = [name for name in (*REQUIRED, *OPTIONAL) if name in archive.files]
            return {name: _array(archive, name, path) for name in wanted}


def _check_names(found: list[str], path: Path) -> None:
    for name in REQUIRED:
        if name not in found:
            raise InputError(
                f'{path} has no array "{name}"; it has {", ".join(found) or "none"}. Expected '
                f"{', '.join(REQUIRED)}, and optionally {', '.join(OPTIONAL)}. Add the array."
            )
    # A misspelt optional array would otherwise be left out without a word.
    for name in found:
        meant = closest(name, OPTIONAL, cutoff=0.85)
        if meant and name not in OPTIONAL and meant not in found:
            raise InputError(
                f'{path} has an array "{name}". Expected the name "{meant}". Rename the array.'
            )


def _array(archive: np.lib.npyio.NpzFile, name: str, path: Path) -> Array:
    try:
        array: Array = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise damaged(path, error) from error
        raise InputError(
            f'the array "{name}" in {path} holds Python objects, which are never unpickled because '
            f"that could run any code. Expected numbers or fixed-width text. Save it with a plain "
            f"dtype, such as float64 or str."
        ) from None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise damaged(path, error) from error
    return array
