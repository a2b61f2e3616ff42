"""A reference arrangement of objects, where data has one: the mean structure of a molecule.

Normaliser, batches and calibration carry it without knowing what the objects are. Which data has
one is decided by `pgode.data.molecules.atoms_of` alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from pgode.data.large.stored import StoredArray
from pgode.data.molecules import atoms_of
from pgode.data.superposition import mean_structure
from pgode.data.trajectories import Trajectories

FRAMES = 1000
"""About this many frames, spread over the training split, are averaged."""


@dataclass(frozen=True)
class Reference:
    """Positions (data units) of the objects in their mean arrangement, and their identity."""

    positions: tuple[tuple[float, ...], ...]
    objects: str
    """Equal for data whose objects are the same, in the same order."""

    @classmethod
    def fit(cls, training: Trajectories) -> "Reference | None":
        """The mean over superposed frames in which all objects were observed.

        None where the data has no known objects, or no such frame.
        """
        objects = atoms_of(training)
        if objects is None:
            return None
        axes = training.position_features
        stored = training.stored("states")
        if stored is not None:
            thinned = _thinned(stored, axes)
        else:
            whole = training.states[..., axes].swapaxes(1, 2)
            frames = whole.reshape(-1, training.objects, len(axes))
            complete = frames[np.isfinite(frames).all((1, 2))]
            thinned = complete[:: max(1, len(complete) // FRAMES)].astype(np.float64)
        if not len(thinned):
            return None
        return cls(tuple(map(tuple, mean_structure(thinned).tolist())), objects)

    def of(self, data: Trajectories) -> Float[np.ndarray, "object axes"] | None:
        """The positions (data units), if the data is of the same objects; otherwise None."""
        return np.array(self.positions) if atoms_of(data) == self.objects else None

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Reference":
        """Read back what `to_json` wrote."""
        return cls(tuple(tuple(place) for place in content["positions"]), content["objects"])

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text, for a run folder."""
        return {"positions": [list(place) for place in self.positions], "objects": self.objects}


def _thinned(
    states: StoredArray, axes: Int[np.ndarray, " axis"]
) -> Float[np.ndarray, "frame object axis"]:
    """The same frames of states that stay in a file: found in one pass, then read alone."""
    systems, _, frames, _ = states.shape
    complete = np.ones((systems, frames), bool)
    for rows, span in _blocks(states):
        known = np.isfinite(states.read(rows, frames=span)[..., axes])
        complete[rows, span] = known.all((1, 3))
    where = np.argwhere(complete)
    chosen = where[:: max(1, len(where) // FRAMES)]
    read = states.windows(chosen[:, 0], chosen[:, 1], 1)
    return np.ascontiguousarray(read[:, :, 0][..., axes])


def _blocks(states: StoredArray) -> Iterator[tuple[np.ndarray, slice]]:
    """Blocks with all objects of some systems and frames."""
    for rows in states.row_blocks():
        step = states.frames_together(len(rows))
        for first in range(0, states.shape[2], step):
            yield rows, slice(first, min(first + step, states.shape[2]))
