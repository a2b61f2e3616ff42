"""The systems a page carries for its player, as compact JSON."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.reports.base.numbers import short_list
from pgode.reports.run.data import Example, ReportData, lines, planes
from pgode.reports.run.pictures import parameter_words

RESOLUTION = 1e-4
"""Step to which values are rounded, as a share of the range shown: finer than any screen."""


def page_data(
    data: ReportData, examples: Sequence[Example], molecule: dict[str, Any] | None = None
) -> str:
    """The JSON in the page: systems of the flat player, and of a molecule's if there is one.

    Characters that could end a script element are escaped.
    """
    views = [
        {"label": view.label, "x": view.x, "y": view.y} for view in (*planes(data), *lines(data))
    ]
    content = {
        "features": [data.label(index) for index in range(len(data.features))],
        "time": data.time_units,
        "views": views,
        "systems": [_system(example) for example in examples],
        "molecule": molecule,
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _system(example: Example) -> dict[str, Any]:
    bounds = example.bounds()
    decimals = [_decimals(high - low) for low, high in bounds]
    words = parameter_words(example)
    edges = [
        number
        for receiver, sender, weight in example.edges
        for number in (int(receiver), int(sender), *short_list(np.array([weight]), 3))
    ]
    gate = None if example.gate is None else short_list(np.ravel(example.gate), 3)
    return {
        "name": example.name + (f" · {words}" if words else ""),
        "objects": example.objects,
        "condition": len(example.condition_times),
        # Close times of a long record differ only in late digits.
        "times": short_list(example.times, 9),
        "bounds": [short_list(pair, 6) for pair in bounds],
        "observed": _flat(example.observed, decimals),
        "forecast": _flat(example.forecast, decimals),
        "lower": _flat(example.lower, decimals),
        "upper": _flat(example.upper, decimals),
        "truth": _flat(example.truth, decimals),
        "edges": edges,
        "gate": gate,
    }


def _decimals(spread: float) -> int:
    """Digits after the point that resolve a range; significant digits would fail far from zero."""
    return -math.floor(math.log10(RESOLUTION * spread))


def _flat(
    states: Float[np.ndarray, "objects frames features"], decimals: Sequence[int]
) -> list[float | int | None]:
    """All values in one list, object by object and frame by frame; None where there is none."""
    features = len(decimals)
    rounded = np.stack([np.round(states[..., k], decimals[k]) for k in range(features)], axis=-1)
    return [_short(value) for value in rounded.ravel().tolist()]


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value
