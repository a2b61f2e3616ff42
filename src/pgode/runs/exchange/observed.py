"""Observed systems for a forecast, in whatever form a user has them: data, a file, a table, arrays.

A run knows features, units, transforms and the duration of a frame, so none has to be given again.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float, Int

from pgode.batches.normaliser import Normaliser
from pgode.data import files
from pgode.data.edges import Edges
from pgode.data.files.pyg.system import array_of
from pgode.data.files.table import is_table, read_frame
from pgode.data.files.table.reading.frames import PARQUET, TEXT, frame_of
from pgode.data.trajectories import Trajectories
from pgode.runs.data_record import DataRecord
from pgode.runs.exchange.observed_tables import from_observed_frame, table_recipe
from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError

PER_SYSTEM = (
    *("states", "edges", "observed", "present", "parameters"),
    *("group", "inputs", "constants", "object_names"),
)
"""Arrays that have no system axis where there is one system."""
PLAIN = (
    *("times", "split", "system_names", "time_origin", "features"),
    *("parameter_names", "input_names", "constant_names"),
)
ARRAYS = (*PER_SYSTEM, *PLAIN)
TABLES = ("to_pandas", "__arrow_c_stream__", "collect_schema")
"""What tables of polars, Arrow and pandas have, lazy ones included, and arrays do not."""


def observed_systems(
    given: Any,
    normaliser: Normaliser,
    record: DataRecord,
    condition: int,
    source: str,
    on_note: Callable[[str], None] = lambda text: None,
    force: bool = False,
) -> Trajectories:
    """Trajectories of anything that holds observed systems.

    `given` is a `Trajectories`, an `xarray.Dataset` of the schema, the path of a file, a table
    (pandas, polars or Arrow) with the columns of the table that the run was trained on, a dict of
    arrays as for `Trajectories.build`, or an array of states alone. `on_note` receives what a
    person should know. `force` is as for `pgode.read`.
    """
    if isinstance(given, Trajectories):
        return given
    if isinstance(given, xr.Dataset):
        return Trajectories.from_dataset(given, source)
    if isinstance(given, str | Path):
        given = Path(given)
        if not is_table(given):
            return _read_data(given, force)
        recipe = table_recipe(record, source)
        frame = read_frame(given, recipe.delimiter, recipe.header, decimal=recipe.decimal)
        return from_observed_frame(frame, recipe, condition, source, on_note)
    if isinstance(given, Mapping):
        return _from_arrays(given, normaliser, record, source)
    if any(hasattr(given, name) for name in TABLES):
        recipe = table_recipe(record, source)
        return from_observed_frame(frame_of(given), recipe, condition, source, on_note)
    if isinstance(given, np.ndarray | Sequence) or hasattr(given, "detach"):
        return _from_arrays({"states": given}, normaliser, record, source)
    raise InputError(
        f"cannot forecast a {type(given).__name__}. Expected Trajectories, a pandas, polars or "
        f"Arrow table, a dict of arrays, an array of states, or the path of a file. Convert it."
    )


def named(given: Any) -> str:
    """What errors call something that was given."""
    return str(given) if isinstance(given, str | Path) else "the given data"


def of_splits(data: Trajectories, splits: Sequence[str], source: str) -> Trajectories:
    """The systems of some splits; all of them if none is named."""
    there = sorted(set(data.split.tolist()))
    for split in splits:
        if split not in there:
            raise InputError(
                f'no system of {source} is in the split "{split}". Expected one of those in the '
                f"data: {', '.join(there)}. Choose one of them, or leave --split out."
            )
    return data.select(np.isin(data.split, list(splits))) if splits else data


def _seen(data: Trajectories) -> Int[np.ndarray, " system"]:
    """Frames of each system up to the last with an observation; all if there is none."""
    last = data.last_observed
    return np.where(last > 0, last, data.n_frames)


def check_length(data: Trajectories, condition: int, source: str) -> None:
    """Refuse systems with fewer observed frames than a forecast starts from, by their names."""
    for system in np.flatnonzero(data.last_observed == 0)[:1]:
        raise InputError(
            f"{data.system_label(system)} in {source} has no observed value. Expected at least one "
            f"in its last {condition} frames. Give its states, or drop the system."
        )
    seen = _seen(data)
    for system in np.flatnonzero(seen < condition)[:1]:
        last = data.when(data.times[system, seen[system] - 1])
        raise InputError(
            f"{data.system_label(system)} in {source} has {seen[system]} frames, fewer than the "
            f"condition of {condition}, up to its last observation at {last}. Expected at least "
            f"{condition} frames: in a table, rows at {condition} times. Give earlier frames, too, "
            f"or drop the system."
        )


def frames_ahead(data: Trajectories, frame_duration: float) -> int | None:
    """Frames after the last observation that all systems have for their known inputs, if any.

    Whoever gives known inputs for some days to come asks for a forecast of these days.
    """
    if not data.input_names:
        return None
    rows = np.arange(data.systems)
    gap = data.times[rows, data.n_frames - 1] - data.times[rows, _seen(data) - 1]
    return int(np.round(gap.min() / frame_duration)) or None


def _read_data(path: Path, force: bool) -> Trajectories:
    if not files.is_data(path):
        raise InputError(
            f"cannot read {path}: the ending {path.suffix or '(none)'} is not known. Expected data "
            f"({', '.join(files.READABLE)}) or a table ({', '.join((*TEXT, *PARQUET))}). Convert "
            f"the file."
        )
    return files.read(path, force=force)


def _from_arrays(
    given: Mapping[str, Any], normaliser: Normaliser, record: DataRecord, source: str
) -> Trajectories:
    """Arrays with what the run knows of them added: NaN states count as missing."""
    for name in given:
        one_of(f"array in {source}", str(name), ARRAYS)
    if "states" not in given:
        raise InputError(
            f'{source} has no array "states". Expected states (system, object, time, feature), or '
            f"(object, time, feature) of one system. Add them."
        )
    arrays = {name: _array(name, values, source) for name, values in given.items()}
    if arrays["states"].ndim == 3:
        single = [name for name in PER_SYSTEM if isinstance(arrays.get(name), np.ndarray)]
        arrays |= {name: arrays[name][None] for name in single}
    states = _states(arrays["states"], source)
    if "times" not in arrays:
        arrays["times"] = np.arange(states.shape[2]) * normaliser.frame_duration
    if "observed" not in arrays:
        arrays["observed"] = ~np.isnan(states)
    if "edges" not in arrays:
        present = arrays.get("present", np.ones(states.shape[:2], dtype=bool))
        arrays["edges"] = _all_pairs(present, record, source)
    known: dict[str, Any] = {
        "features": normaliser.features,
        "parameter_names": normaliser.parameters if "parameters" in arrays else (),
        "input_names": normaliser.inputs if "inputs" in arrays else (),
        "constant_names": normaliser.constants if "constants" in arrays else (),
    }
    if len(arrays.get("features", normaliser.features)) == len(normaliser.features):
        known |= {
            "roles": normaliser.roles,
            "variables": normaliser.variables,
            "units": normaliser.units,
            "transforms": normaliser.transforms or None,
        }
    origin = str(arrays.pop("time_origin", ""))
    arguments = {**known, "time_units": normaliser.time_units, **arrays}
    arguments.pop("states")
    clock = arguments.pop("times")
    return Trajectories.build(states, clock, **arguments, time_origin=origin, source=source)


def _array(name: str, values: Any, source: str) -> Any:
    """An array, or the edges as they are."""
    if isinstance(values, Edges):
        return values
    try:
        return array_of(values)
    except (ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"{name} in {source} is no array ({reason}). Expected numbers of one shape, NaN where "
            f"a value is missing. Convert it with numpy.array first."
        ) from None


def _states(values: np.ndarray, source: str) -> Float[np.ndarray, "system object time feature"]:
    if values.ndim != 4 or values.dtype.kind not in "biuf":
        raise InputError(
            f"states in {source} is {values.dtype} of shape {values.shape}. Expected numbers, "
            f"(system, object, time, feature) or, of one system, (object, time, feature). Convert "
            f"or reshape the array."
        )
    return values.astype(np.float64)


def _all_pairs(present: np.ndarray, record: DataRecord, source: str) -> np.ndarray:
    """Edges between all present objects, if the run was trained on such graphs."""
    if not record.all_pairs:
        raise InputError(
            f"{source} has no edges, and the run was not trained on graphs that join all pairs. "
            f"Expected edges: (system, object, object), the receiver as row, or a pgode.Edges. "
            f"Give a dict with states and edges."
        )
    both = present[:, :, None] & present[:, None, :]
    return np.asarray(both & ~np.eye(present.shape[1], dtype=bool), dtype=np.float64)
