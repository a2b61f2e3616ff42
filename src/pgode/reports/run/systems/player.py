"""Plain objects, and their player: positions in a plane, or features over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pgode.reports.base.example import MAX_OBJECTS, Example, included
from pgode.reports.base.numbers import short_list
from pgode.reports.base.page import Section, asset
from pgode.reports.base.presentation import Player, player_html
from pgode.reports.run.data import ReportData, lines, planes, space

RESOLUTION = 1e-4
"""Step to which values are rounded, as a share of the range shown: finer than any screen."""
IN_A_PLANE = (
    "Any included system, frame by frame. Discs are observations or forecasts, rings are the "
    "truth, and an ellipse spans the middle 90 % of the sampled forecasts along each axis. Click "
    "an object to single it out."
)
IN_SPACE = (
    "Any included system, frame by frame: the observations or the forecast in colour and the truth "
    "in grey, joined by the edges of the graph. A cross spans the middle 90 % of the sampled "
    "forecasts along each axis. Click an object to single it out."
)
OVER_TIME = (
    "Any included system, frame by frame. Lines are observations or forecasts, dashes are the "
    "truth, and a band holds the middle 90 % of the sampled forecasts. Click a line to single it "
    "out."
)


@dataclass(frozen=True)
class ObjectPresentation:
    """The `Presentation` of systems of plain objects."""

    data: ReportData

    @property
    def objects_note(self) -> str:
        """States the cut of large systems."""
        return f"Of larger systems only the first {MAX_OBJECTS} objects are shown."

    def included(self, examples: Sequence[Example]) -> list[Example]:
        """The systems that fit on a page, with their first objects."""
        return included(examples)

    def pictured(self, example: Example) -> Example:
        """Pictures show the same objects as the player."""
        return example

    def sections(self) -> list[Section]:
        """None."""
        return []

    def player(self, examples: Sequence[Example]) -> Player:
        """Objects in planes of their positions, and features over time."""
        flat = IN_A_PLANE if planes(self.data) else OVER_TIME
        explanation = IN_SPACE if space(self.data) else flat
        script = "".join(map(asset, ("player.js", "space.js", "playback.js", "controls.js")))
        return Player(
            player_html("player.html", examples, explanation),
            [script],
            player_data(self.data, examples),
        )


def player_data(data: ReportData, examples: Sequence[Example]) -> dict[str, Any]:
    """The data of the player's script."""
    views = [
        {"label": view.label, "x": view.x, "y": view.y} for view in (*planes(data), *lines(data))
    ]
    axes = space(data)
    if axes:
        x, y, z = axes
        views.insert(0, {"label": "in three dimensions", "x": x, "y": y, "z": z})
    return {
        "features": [data.label(index) for index in range(len(data.features))],
        "names": list(data.features),
        "time": data.time_units,
        "views": views,
        "systems": [_system(example, axes) for example in examples],
    }


def _worst(example: Example) -> int:
    """The object with the largest error; the first if none is known."""
    return int(np.argmax(np.nan_to_num(example.object_errors(), nan=-1.0)))


def _upward(example: Example, axes: Sequence[int]) -> int:
    """The axis (0 to 2) along which objects lie farthest apart: for a body, from feet to head."""
    states = example.observed[..., list(axes)]
    known = np.isfinite(states).all(2)
    spread = [
        states[known[:, frame], frame].std(0)
        for frame in range(states.shape[1])
        if known[:, frame].any()
    ]
    return int(np.mean(spread, axis=0).argmax()) if spread else len(axes) - 1


def _system(example: Example, axes: Sequence[int]) -> dict[str, Any]:
    bounds = example.bounds()
    decimals = [_decimals(high - low) for low, high in bounds]
    edges = [
        number
        for receiver, sender, weight in example.edges
        for number in (int(receiver), int(sender), *short_list(np.array([weight]), 3))
    ]
    gate = None if example.gate is None else short_list(np.ravel(example.gate), 3)
    return {
        "name": example.title,
        "objects": example.objects,
        "condition": len(example.condition_times),
        # Nine digits separate close times of a long record.
        "times": short_list(example.times, 9),
        "bounds": [short_list(pair, 6) for pair in bounds],
        "observed": _flat(example.observed, decimals),
        "forecast": _flat(example.forecast, decimals),
        "lower": _flat(example.lower, decimals),
        "upper": _flat(example.upper, decimals),
        "truth": _flat(example.truth, decimals),
        "edges": edges,
        "gate": gate,
        "worst": _worst(example),
        **({"up": _upward(example, axes)} if axes else {}),
        **({"labels": list(example.labels)} if example.labels else {}),
        **({"dates": list(example.dates)} if example.dates else {}),
    }


def _decimals(spread: float) -> int:
    """Digits after the point that resolve a range; significant digits fail far from zero."""
    return -math.floor(math.log10(RESOLUTION * spread))


def _flat(
    states: Float[np.ndarray, "objects frames features"], decimals: Sequence[int]
) -> list[float | int | None]:
    """All values in one list, object by object and frame by frame; None where unknown."""
    features = len(decimals)
    rounded = np.stack([np.round(states[..., k], decimals[k]) for k in range(features)], axis=-1)
    return [_short(value) for value in rounded.ravel().tolist()]


def _short(value: float) -> float | int | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value
