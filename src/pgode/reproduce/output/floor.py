"""What no forecast can do better than, and how much of what was left to gain a model gained."""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from pgode.reproduce.tables.catalogue import FLOOR

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


def gained(results: Sequence[dict[str, Any]], cell: Cell) -> list[float | None]:
    """The share that a model gained of what can be gained, and its range; means over its seeds.

    It is of the systems with replicas alone: the floor is not known of the others.
    """
    split, horizon, variable = cell

    def over_seeds(kind: str) -> float | None:
        parts = (result.get("noise_floor", {}).get(kind, {}) for result in results)
        there = (part.get(split, {}).get(str(horizon), {}).get(variable) for part in parts)
        found = [value for value in there if value is not None]
        return mean(found) if found else None

    return [over_seeds(kind) for kind in ("gained", "gained_low", "gained_high")]
