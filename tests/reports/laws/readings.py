"""An invented reading: a repulsion, and a spring with a rest length."""

from dataclasses import dataclass

import numpy as np

from pgode.evaluation.laws.reading import LawsReading, read_law


@dataclass(frozen=True)
class Law:
    receiver: int
    sender: int
    rest: float
    nearest: float = 0.2
    farthest: float = 5.0

    def force(self, distance: np.ndarray) -> np.ndarray:
        return -0.2 * (distance - self.rest) if self.rest else distance**-2.0

    def deviation(self, distance: np.ndarray) -> np.ndarray:
        return 0.003 * distance


def reading() -> LawsReading:
    return LawsReading(
        laws=[read_law(Law(0, 0, 0.0), True), read_law(Law(0, 1, 1.0), True)],
        drag={1: 0.2},
        shares=(0.6, 0.4),
        findings=("walls: objects are mirrored at <x> = 3",),
        length_units="nm",
        time_units="ps",
        agreement=0.95,
    )
