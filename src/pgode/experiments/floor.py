"""What no forecast can do better than, and how much of what was left to gain a model gained."""

from collections.abc import Sequence
from typing import Any

from pgode.experiments.catalogue import FLOOR

Cell = tuple[str, int, str]
"""(split, horizon, variable) of an error."""


def floor_row(
    dataset: str, scored: Sequence[dict[str, Any]], cells: Sequence[Cell]
) -> dict[str, Any] | None:
    """The noise floor as a line of a table; None where no finished trial knows one.

    Like the naive errors it is in every result of the data set, in the scale of its training split.
    """
    floors = [result["noise_floor"]["mse"] for result in scored if "noise_floor" in result]
    if not floors:
        return None
    values = []
    for split, horizon, variable in cells:
        there = (floor.get(split, {}).get(str(horizon), {}).get(variable) for floor in floors)
        value = next((each for each in there if each is not None), None)
        values.append({"ours": value, "spread": None, "published": None})
    ((model, label),) = FLOOR.items()
    return {"dataset": dataset, "label": label, "model": model, "cells": values}


def add_gained(rows: Sequence[dict[str, Any]]) -> None:
    """Give every cell of PGODE the share that it gained of what can be gained.

    (last value - ours) / (last value - floor): 0 is no better than repeating the last frame, 1
    is as good as any forecast can be. `rows` are those of one data set.
    """
    last, floor = (
        next(row["cells"] for row in rows if row["model"] == name)
        for name in ("last-value", *FLOOR)
    )
    for row in rows:
        if row["model"] == "pgode":
            for cell, worst, best in zip(row["cells"], last, floor, strict=True):
                cell["gained"] = _share(cell["ours"], worst["ours"], best["ours"])


def _share(ours: float | None, worst: float | None, best: float | None) -> float | None:
    if ours is None or worst is None or best is None or worst <= best:
        return None
    return (worst - ours) / (worst - best)
