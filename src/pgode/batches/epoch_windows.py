"""The training windows of an epoch: which systems, in which order, and where they start."""

import numpy as np
from jaxtyping import Int

from pgode.batches.origins import Origins, every
from pgode.batches.windows import Windows

Window = Int[np.ndarray, " window"]


class EpochWindows:
    """One window of each training system, or all windows of all of them.

    Everything random follows from the seed and the epoch, so that a resumed run sees the same.
    """

    def __init__(self, training: Windows, starts: str, stride: int, seed: int) -> None:
        self.training, self.starts, self.stride, self.seed = training, starts, stride, seed

    @property
    def per_epoch(self) -> int:
        """Windows of one epoch; the same for all epochs."""
        return len(self._all()) if self.starts == "all" else len(self.training)

    def of_epoch(self, epoch: int, horizon: int) -> tuple[Window, Window]:
        """The system of each window of an epoch that forecasts `horizon` frames, and its start."""
        random = np.random.default_rng((self.seed, epoch))
        if self.starts == "all":
            return self._shuffled(random)
        order = random.permutation(len(self.training))
        if self.starts == "first":
            return order, np.zeros_like(order)
        room = np.maximum(self.training.frames - self.training.condition - horizon + 1, 1)
        return order, random.integers(0, room[order])

    def _shuffled(self, random: np.random.Generator) -> tuple[Window, Window]:
        """All windows in random order, moved within the stride so that none is never seen."""
        found = self._all()
        room = np.maximum(self.training.frames - self._length + 1, 1)[found.systems]
        moved = np.minimum(found.starts + random.integers(0, self.stride), room - 1)
        order = random.permutation(len(found))
        return found.systems[order], moved[order]

    def _all(self) -> Origins:
        return every(self.training.frames, self._length, self.stride)

    @property
    def _length(self) -> int:
        return self.training.condition + self.training.horizon
