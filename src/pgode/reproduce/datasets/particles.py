"""Simulated particles: made in seconds, by the trial that needs them first."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pgode.data import files
from pgode.data.simulate import simulate
from pgode.data.trajectories import Trajectories
from pgode.reproduce.datasets.dataset import ALONE, Dataset, Resources, Sizes
from pgode.runtime.locks import locked


@dataclass(frozen=True)
class SimulatedParticles(Dataset):
    """A system of `pgode simulate`, with seed 0."""

    sizes: ClassVar[Mapping[str, Sizes]] = {
        "smoke": Sizes(12, 6, 6),
        "quick": Sizes(1000, 200, 250),
        "paper": Sizes(1000, 200, 250),
    }

    horizons: tuple[int, ...] = (12, 24, 36)
    variables: tuple[str, ...] = ("q", "v")
    curriculum: tuple[tuple[float, int], ...] = ((0.4, 12), (0.6, 24))
    batch: int = 16
    digits: int = 2
    system: str = "springs"
    objects: int = 10

    def is_ready(self, budget: str, root: Path) -> bool:
        """Always: a trial makes the data."""
        return True

    def make(self, budget: str, root: Path, resources: Resources = ALONE) -> Path:
        """Simulate the data in this process if it does not exist."""
        path = self.file(budget, root)
        with locked(path):
            if not path.exists():
                counts: dict[str, Any] = {**self.sizes[budget].counts}
                files.write_own(simulate(self.system, objects=self.objects, **counts), path)
        return path

    def read(self, budget: str, root: Path) -> Trajectories:
        """The data, simulated if it does not exist."""
        return files.read(self.make(budget, root))
