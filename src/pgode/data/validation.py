"""Validation of the arrays of trajectories; an error names the first element that is wrong.

Every check is one vectorised test of a whole array; the element is located only after a failure.
"""

import json
import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from pgode.data.labels.text import text_array
from pgode.data.schema import SPLITS
from pgode.runtime.errors import InputError


def array(name: str, values: Any, source: str) -> Shaped[np.ndarray, "..."]:
    """`values` as an array; lists of differing lengths are refused by name."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name} in {source} is not an array ({error}). Expected equal lengths in every "
            f"dimension. Pad shorter systems and mark the padding with NaN times or the mask "
            f'"present".'
        ) from None


def numbers(
    name: str, values: Any, dims: Sequence[str], shape: Sequence[int | None], source: str
) -> Float[np.ndarray, "..."]:
    """A float64 copy of `values`, whose dims must have the sizes in `shape` (None: any)."""
    data = array(name, values, source)
    if data.dtype.kind not in "biuf" and data.size:
        raise InputError(
            f"{name} in {source} holds {data.dtype}. Expected real numbers. "
            f"Convert the array before building trajectories."
        )
    check_shape(name, data, dims, shape, source)
    return np.array(data, dtype=np.float64, order="C")


def mask(
    name: str, values: Any, dims: Sequence[str], shape: Sequence[int | None], source: str
) -> Bool[np.ndarray, "..."]:
    """A boolean copy of `values`; zeros and ones are read as False and True."""
    data = array(name, values, source)
    if data.dtype.kind not in "biuf" or not ((data == 0) | (data == 1)).all():
        raise InputError(
            f"{name} in {source} is not a mask (it holds {data.dtype}). Expected True and False, "
            f"or 1 and 0. Convert the array before building trajectories."
        )
    check_shape(name, data, dims, shape, source)
    return np.array(data, dtype=bool, order="C")


def check_shape(
    name: str,
    data: Shaped[np.ndarray, "..."],
    dims: Sequence[str],
    shape: Sequence[int | None],
    source: str,
) -> None:
    """Refuse an array that does not have these dims and sizes (None: any size)."""
    fits = data.ndim == len(dims) and all(
        want is None or want == got for want, got in zip(shape, data.shape, strict=True)
    )
    if not fits:
        sizes = ", ".join(
            dim if size is None else f"{dim} {size}" for dim, size in zip(dims, shape, strict=True)
        )
        raise InputError(
            f"{name} in {source} has shape {data.shape}. Expected ({sizes}). "
            f"Reorder or cut the array so that its dimensions are these."
        )


def texts(name: str, values: Any, count: int, owner: str, source: str) -> tuple[str, ...]:
    """`values` as `count` strings, whatever string type a file or a library stored them in."""
    data = np.atleast_1d(text_array(name, values, source))
    if data.ndim != 1 or len(data) != count:
        raise InputError(
            f"{name} in {source} has {data.size} entries. Expected {count}, one per {owner}. "
            f"Give one for each."
        )
    return tuple(data.tolist())


def check_names(name: str, names: Sequence[str], source: str) -> None:
    """Names are different and not empty."""
    for each, count in Counter(names).items():
        if count > 1 or not each:
            problem = f'"{each}" occurs {count} times' if each else "one of them is empty"
            raise InputError(
                f"the {name} names in {source} are {', '.join(names)}: {problem}. "
                f"Expected different names. Rename one."
            )


def frame_times(values: Any, systems: int, frames: int, source: str) -> Float[np.ndarray, "..."]:
    """Times (system, time), from those or from one clock (time) that all systems share."""
    clock = array("times", values, source)
    if clock.ndim == 1:
        clock = np.broadcast_to(clock, (systems, len(clock)))
    times = numbers("times", clock, ("system", "time"), (systems, frames), source)
    check_times(times, source)
    return times


def check_times(times: Float[np.ndarray, "system time"], source: str) -> None:
    """Times increase strictly; only the end of a system may be padded with NaN."""
    known = np.isfinite(times)
    for system, frame in np.argwhere(np.isinf(times))[:1]:
        raise InputError(
            f"system {system} in {source} has the time {times[system, frame]} at index {frame}. "
            f"Expected finite times, or NaN after a system's last frame. Correct it."
        )
    for system in np.flatnonzero(~known[:, :1].any(axis=1))[:1]:
        raise InputError(
            f"system {system} in {source} has no first time: times[{system}, 0] is NaN. Expected "
            f"at least one frame, with padding only at the end. Drop the system or give its times."
        )
    for system, frame in np.argwhere(known[:, 1:] & ~known[:, :-1])[:1]:
        raise InputError(
            f"system {system} in {source} has the time {times[system, frame + 1]:g} at index "
            f"{frame + 1} after NaN at index {frame}. Expected NaN only after the last frame. "
            f'Move the padding to the end; mark missing values with the mask "observed".'
        )
    for system, frame in np.argwhere(np.diff(times, axis=1) <= 0)[:1]:
        before, after = times[system, frame], times[system, frame + 1]
        problem = "repeats the time" if before == after else "goes back in time"
        raise InputError(
            f"system {system} in {source} {problem} at index {frame + 1}: {before:.10g} is "
            f"followed by {after:.10g}. Expected strictly increasing times. Sort the frames and "
            f"drop repeats."
        )


def check_present(present: Bool[np.ndarray, "system object"], source: str) -> None:
    """Every system has objects, and absent ones come last."""
    for system in np.flatnonzero(~present.any(axis=1))[:1]:
        raise InputError(
            f"system {system} in {source} has no present object. Expected at least one. "
            f"Drop the system."
        )
    for system, item in np.argwhere(present[:, 1:] & ~present[:, :-1])[:1]:
        raise InputError(
            f"system {system}, object {item} in {source} is absent but object {item + 1} is "
            f"present. Expected absent objects at the end. Reorder the objects of the system."
        )


def check_states(
    states: Float[np.ndarray, "system object time feature"],
    observed: Bool[np.ndarray, "system object time feature"],
    times: Float[np.ndarray, "system time"],
    features: Sequence[str],
    source: str,
    at: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """Values marked as observed are finite.

    `at` is the first system, object and frame, where `states` is a block of what `times` is of.
    """
    wrong = observed & ~np.isfinite(states)
    if wrong.any():
        system, item, frame, feature = np.argwhere(wrong)[0]
        value = "NaN" if np.isnan(states[system, item, frame, feature]) else "infinite"
        system, item, frame = system + at[0], item + at[1], frame + at[2]
        raise InputError(
            f"system {system}, object {item} has no finite value at time "
            f'{times[system, frame]:g} (feature "{features[feature]}" is {value}) in {source}. '
            f'Expected finite values where observed. Mark missing values with the mask "observed" '
            f'and missing objects with the mask "present", or drop the system.'
        )


def check_parameters(
    parameters: Float[np.ndarray, "system parameter"], names: Sequence[str], source: str
) -> None:
    """A parameter may be unknown (NaN), never infinite."""
    for system, column in np.argwhere(np.isinf(parameters))[:1]:
        raise InputError(
            f'system {system} in {source} has the parameter "{names[column]}" = '
            f"{parameters[system, column]}. Expected a finite number, or NaN where unknown. "
            f"Correct it."
        )


def check_split(split: Sequence[str], source: str) -> None:
    """Every system is in one of the four splits."""
    for system in np.flatnonzero(~np.isin(split, SPLITS))[:1]:
        raise InputError(
            f'system {system} in {source} has the split "{split[system]}". '
            f"Expected one of {', '.join(SPLITS)}. Correct the split."
        )


def groups(values: Any, shape: tuple[int, int], source: str) -> Int[np.ndarray, "system object"]:
    """Group numbers as int32, -1 where an object has none."""
    data = array("group", values, source)
    check_shape("group", data, ("system", "object"), shape, source)
    if data.dtype.kind not in "iu" or (data < -1).any() or (data > 2**31 - 1).any():
        raise InputError(
            f"group in {source} holds {data.dtype} from {data.min()} to {data.max()}. Expected "
            f"whole numbers from 0 on, or -1 for no group. Number the groups."
        )
    return data.astype(np.int32)


def kinds(values: Any, present: Bool[np.ndarray, "system object"], source: str) -> dict[str, Any]:
    """The variable with the true kind of each object, if it is given; -1 for absent objects."""
    if values is None:
        return {}
    data = array("kind", values, source)
    check_shape("kind", data, ("system", "object"), present.shape, source)
    if data.dtype.kind not in "iu":
        raise InputError(
            f"kind in {source} holds {data.dtype}. Expected whole numbers from 0 on. Number the "
            f"kinds."
        )
    for system, item in np.argwhere(present & ((data < 0) | (data > 2**31 - 1)))[:1]:
        raise InputError(
            f"system {system}, object {item} in {source} is of kind {data[system, item]}. Expected "
            f"a whole number from 0 on. Number the kinds, or give none."
        )
    return {"kind": (("system", "object"), np.where(present, data, -1).astype(np.int32))}


def check_settings(settings: str, source: str) -> None:
    """Generator settings are JSON, so that any tool can read how the data was made."""
    try:
        json.loads(settings)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"generator_settings in {source} is not JSON ({error}). Expected an object such as "
            f'{{"objects": 10}}. Write it with json.dumps.'
        ) from None


def seed_number(seed: Any, source: str) -> int:
    """The seed as a whole number, -1 where it is unknown."""
    try:
        return operator.index(seed)
    except TypeError:
        raise InputError(
            f"seed in {source} is {seed!r}. Expected a whole number, or -1 where it is unknown. "
            f"Correct it."
        ) from None


def topology(text: str, objects: int, source: str) -> dict[str, Any]:
    """The variable with the PDB text of a molecule, if there is one: an atom for each object."""
    if not text:
        return {}
    first_model = text.split("\nENDMDL", 1)[0]
    atoms = sum(line.startswith(("ATOM", "HETATM")) for line in first_model.splitlines())
    if atoms != objects:
        raise InputError(
            f"the topology of {source} has {atoms} atoms, but there are {objects} objects. "
            f"Expected the text of a PDB file with one ATOM or HETATM line per object, in their "
            f"order. Give the topology of the atoms that were kept, or none."
        )
    return {"topology": ((), np.array(text, dtype=np.str_))}


def graph_rule(cutoff: Any, interval: Any, roles: Sequence[str], source: str) -> dict[str, float]:
    """Attributes that define edges by distance; empty if edges do not follow from positions."""
    distance, every = float(cutoff), float(interval)
    if distance == 0 and every == 0:
        return {}
    if not (0 < distance < np.inf and every > 0):
        raise InputError(
            f"the graph of {source} has cutoff {distance:g} and interval {every:g}. Expected both "
            f"to be positive, the cutoff in units of position and the interval in units of time, "
            f"or both to be 0 if edges do not follow from distances. Correct them."
        )
    if "position" not in roles:
        raise InputError(
            f"the graph of {source} joins objects nearer than {distance:g}, but no feature is a "
            f"position. Expected features with that role. Give roles, or leave graph_cutoff out."
        )
    return {"graph_cutoff": distance, "graph_interval": every}
