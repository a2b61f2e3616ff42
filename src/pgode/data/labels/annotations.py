"""What data may say beyond states: names, constants of objects, known inputs, transforms.

All of it is optional, and a dataset has a variable only for what was given, so that data without
it have the same content and hash as ever.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Shaped

from pgode.data import validation
from pgode.data.labels.text import text_array
from pgode.data.labels.transforms import TRANSFORMS
from pgode.data.schema import strings
from pgode.runtime.choices import one_of
from pgode.runtime.errors import InputError

PAIR = ("system", "object")
Labels = Sequence[str] | Shaped[np.ndarray, " name"]


def names(
    systems: Any, objects: Any, present: Bool[np.ndarray, "system object"], source: str
) -> dict[str, Any]:
    """The variables with the name of each system, and of each object of each system.

    Two objects of one system have different names; absent objects have none.
    """
    found: dict[str, Any] = {}
    if systems is not None:
        given = validation.texts("system_names", systems, len(present), "system", source)
        found["system_name"] = ("system", strings(given))
    if objects is None:
        return found
    text = text_array("object_names", objects, source)
    validation.check_shape("object_names", text, PAIR, present.shape, source)
    ranked = np.sort(np.where(present, text, ""), axis=1)
    for system, place in np.argwhere((ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] != ""))[:1]:
        raise InputError(
            f'system {system} in {source} has two objects named "{ranked[system, place]}". '
            f"Expected different names within a system. Rename one."
        )
    found["object_name"] = (PAIR, np.where(present, text, ""))
    return found


def constants(
    values: Any, labels: Labels, present: Bool[np.ndarray, "system object"], source: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The variable with the constants of each object (NaN: unknown), and their names."""
    if values is None:
        return {}, {}
    shape = (*present.shape, len(labels))
    data = validation.numbers("constants", values, (*PAIR, "constant"), shape, source)
    given = validation.texts("constant_names", labels, len(labels), "constant", source)
    validation.check_names("constant", given, source)
    refuse_infinite("constant", data, given, source)
    data[~present] = np.nan
    data[np.isnan(data)] = np.nan  # One bit pattern for NaN: the hash must not depend on it.
    return {"constants": ((*PAIR, "constant"), data)}, {"constant": strings(given)}


def inputs(
    values: Any,
    labels: Labels,
    present: Bool[np.ndarray, "system object"],
    times: Float[np.ndarray, "system time"],
    source: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The variable with inputs that are known ahead (NaN: unknown), and their names."""
    if values is None:
        return {}, {}
    possible = present[:, :, None] & np.isfinite(times)[:, None]
    dims, shape = (*PAIR, "time", "input"), (*possible.shape, len(labels))
    data = validation.numbers("inputs", values, dims, shape, source)
    given = validation.texts("input_names", labels, len(labels), "input", source)
    validation.check_names("input", given, source)
    refuse_infinite("input", data, given, source)
    data[~possible] = np.nan
    data[np.isnan(data)] = np.nan
    return {"inputs": (dims, data)}, {"input": strings(given)}


def stored_inputs(
    values: Any, labels: Labels, source: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same for inputs that stay in a file, whose values are checked when they are read."""
    dims = (*PAIR, "time", "input")
    given = validation.texts("input_names", labels, values.shape[3], "input", source)
    validation.check_names("input", given, source)
    return {"inputs": (dims, values)}, {"input": strings(given)}


def transforms(
    names: Any,
    states: Float[np.ndarray, "system object time feature"],
    features: Sequence[str],
    roles: Sequence[str],
    source: str,
) -> dict[str, Any]:
    """The transform of each feature under which a model sees it; nothing if there is none."""
    if names is None:
        return {}
    given = validation.texts("transforms", names, len(features), "feature", source)
    for feature, name, role in zip(features, given, roles, strict=True):
        one_of("transform", name, TRANSFORMS)
        if name and role != "value":
            raise InputError(
                f'feature "{feature}" in {source} is a {role} and has the transform {name}. '
                f"Expected none: positions move by their velocities only as they are. Leave the "
                f"transform out."
            )
    check_domains(states, features, given, source)
    return {"feature_transform": ("feature", strings(given))} if any(given) else {}


def check_domains(
    states: Float[np.ndarray, "system object time feature"],
    features: Sequence[str],
    transforms: Sequence[str],
    source: str,
    at: tuple[int, int, int] = (0, 0, 0),
) -> None:
    """Every known value has the transform of its feature.

    `at` is the first system, object and frame, where `states` is a block of the data.
    """
    for k, (feature, name) in enumerate(zip(features, transforms, strict=True)):
        if not name:
            continue
        with np.errstate(invalid="ignore", divide="ignore"):
            valid = np.isfinite(TRANSFORMS[name].forward(states[..., k]))
        for system, item, frame in np.argwhere(~valid & np.isfinite(states[..., k]))[:1]:
            raise InputError(
                f"system {system + at[0]}, object {item + at[1]} in {source} has the value "
                f'{states[system, item, frame, k]:g} of "{feature}" at frame {frame + at[2]}, '
                f"which has no {name}. Expected {TRANSFORMS[name].domain}. Choose another "
                f"transform."
            )


def refuse_infinite(
    what: str,
    data: Float[np.ndarray, "..."],
    labels: Sequence[str],
    source: str,
    at: tuple[int, int] = (0, 0),
) -> None:
    """Values may be unknown (NaN), never infinite; `at` is the first system and object."""
    for place in np.argwhere(np.isinf(data))[:1]:
        value, name = data[tuple(place)], labels[place[-1]]
        raise InputError(
            f"system {place[0] + at[0]}, object {place[1] + at[1]} in {source} has the {what} "
            f'"{name}" {value}. '
            f"Expected a finite number, or NaN where it is unknown. Correct it."
        )
