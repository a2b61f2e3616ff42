"""The arrays that an exported forecast takes and returns: names, types, shapes, in words."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pgode.batches.normaliser import Normaliser
from pgode.models.forecaster import Forecaster
from pgode.models.pgode.config import PGODEConfig

OUTPUT = "forecast"
"""Name of the array that an exported forecast returns."""


@dataclass(frozen=True)
class ArrayInput:
    """One array: its name, type, shape (a name where the size is free), and what it holds."""

    name: str
    dtype: str
    shape: tuple[str | int, ...]
    words: str

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text, for the metadata of a file."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            "shape": list(self.shape),
            "meaning": self.words,
        }


@dataclass(frozen=True)
class Signature:
    """What a forecast is made from, and for how many frames.

    Everything is in the units of the data and in float64: scaling is part of the program, and
    large coordinates or times would lose digits in float32 before they are scaled.
    """

    condition: int
    until: int
    features: int
    attributes: int
    constants: int
    inputs: int
    groups: bool
    changing: bool
    """Whether the graph may change within the condition."""

    @classmethod
    def of(
        cls, model: Forecaster, condition: int, until: int, *, changing: bool = False
    ) -> "Signature":
        """All that a model's forecast depends on."""
        normaliser = model.normaliser
        known = model.known_inputs
        return cls(
            condition=condition,
            until=until,
            features=len(normaliser.features),
            attributes=len(normaliser.edge_attributes),
            constants=len(normaliser.constants) if known != "none" else 0,
            inputs=len(normaliser.inputs) if known != "none" else 0,
            groups=isinstance(model.config, PGODEConfig) and model.config.gate.group_context,
            changing=changing,
        )

    @property
    def arrays(self) -> tuple[ArrayInput, ...]:
        """The inputs, in the order of the program's arguments."""
        condition, real, whole = self.condition, "float64", "int64"
        frames = condition + self.until
        found = [
            ArrayInput(
                *("states", real, ("objects", condition, self.features)),
                "observed values of all systems' objects, NaN where not observed",
            ),
            ArrayInput(
                *("times", real, ("systems", condition)),
                "times of the observed frames, from any origin; the forecast starts at the last",
            ),
            ArrayInput(
                *("system", whole, ("objects",)),
                "system of each object, counted from 0; objects of one system are adjacent",
            ),
            ArrayInput("senders", whole, ("edges",), "object that each edge comes from"),
            ArrayInput("receivers", whole, ("edges",), "object that each edge goes to"),
            ArrayInput(
                *("edge_attributes", real, ("edges", self.attributes)),
                "attributes of each edge, the weight first",
            ),
        ]
        if self.changing:
            found += [
                ArrayInput(
                    *("edge_begin", whole, ("edges",)),
                    "first observed frame at which each edge is there, counted from 0",
                ),
                ArrayInput(
                    *("edge_end", whole, ("edges",)),
                    f"frame from which it is not; {condition} for edges that the forecast uses",
                ),
            ]
        if self.groups:
            found.append(
                ArrayInput(
                    *("group", whole, ("objects",)),
                    "group of each object within its system, -1 for none",
                )
            )
        if self.constants:
            found.append(
                ArrayInput(
                    *("constants", real, ("objects", self.constants)),
                    "constants of each object, NaN where unknown",
                )
            )
        if self.inputs:
            found.append(
                ArrayInput(
                    *("inputs", real, ("objects", frames, self.inputs)),
                    "known inputs at the observed frames, then at those of the forecast",
                )
            )
        return tuple(found)

    def example(self) -> dict[str, np.ndarray]:
        """Zeros of a small size, to record the program with; no two free sizes are equal."""
        sizes = {"systems": 3, "objects": 7, "edges": 11}
        return {
            each.name: np.zeros(
                [sizes[size] if isinstance(size, str) else size for size in each.shape], each.dtype
            )
            for each in self.arrays
        }


def metadata(signature: Signature, normaliser: Normaliser) -> dict[str, Any]:
    """What a reader of the file has to know about its arrays."""
    return {
        "features": list(normaliser.features),
        "units": list(normaliser.units),
        "time_units": normaliser.time_units,
        "frame_duration": normaliser.frame_duration,
        "condition": signature.condition,
        "until": signature.until,
        "edge_attributes": list(normaliser.edge_attributes),
        "constants": list(normaliser.constants) if signature.constants else [],
        "inputs": list(normaliser.inputs) if signature.inputs else [],
        "arrays": [each.to_json() for each in signature.arrays],
        "output": {
            "name": OUTPUT,
            "dtype": "float64",
            "shape": ["objects", signature.until, signature.features],
            "meaning": "forecast of each object at frames 1, 2, ... after the last observed one",
        },
    }
