"""Simulated proteins: made before the first trial, which only reads the files.

A simulation takes hours, so the grid runs it first, with all its processes. Finished
samples stay in ROOT/data/5awl.samples, from which both alignments are prepared.
"""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pgode.data import files
from pgode.data.molecules import Alignment, Preparation
from pgode.data.simulate import protein
from pgode.data.simulate.protein.display import Bars
from pgode.data.trajectories import Trajectories
from pgode.reproduce.datasets.dataset import ALONE, Dataset, Resources, Sizes
from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked

IN_WATER: dict[str, Any] = {"replicas": 4}
WITHOUT_WATER: dict[str, Any] = {
    "implicit": True,
    "frames": 40,
    "frame_time": 0.048,
    "settle": 0.2,
    "equilibrate": 2.0,
    "separate": 0.4,
    "replicas": 2,
    "replicated": 2,
}
"""For the budget `smoke`: just enough frames for every horizon and condition of the tables."""


@dataclass(frozen=True)
class SimulatedProtein(Dataset):
    """An entry of the Protein Data Bank, and how its frames are aligned.

    Batch, width, solver and state are those of PGODE's preset `molecules`. A system has some two
    hundred atoms instead of ten particles, and thermal noise dominates the error: half the width
    and one Euler step per frame reach the same error in a seventh of the time.
    """

    sizes: ClassVar[Mapping[str, Sizes]] = {
        "smoke": Sizes(4, 2, 1),
        "quick": Sizes(200, 50, 50),
        "paper": Sizes(200, 50, 50),
    }

    horizons: tuple[int, ...] = (12, 24)
    variables: tuple[str, ...] = ("qx", "qy", "qz")
    curriculum: tuple[tuple[float, int], ...] = ((0.4, 12),)
    batch: int = 4
    digits: int = 3
    settings: tuple[tuple[str, Any], ...] = (
        ("model.width", 64),
        ("model.solver.method", "euler"),
        ("model.state.trend", False),
    )
    entry: str = ""
    align: Alignment = "superposed"

    def is_ready(self, budget: str, root: Path) -> bool:
        """Whether the file exists."""
        return self.file(budget, root).exists()

    def make(self, budget: str, root: Path, resources: Resources = ALONE) -> Path:
        """Simulate what is missing; an existing file is left as it is.

        KeyboardInterrupt if the process is asked to stop; finished samples are kept.
        """
        path = self.file(budget, root)
        folder = root / "data" / f"{self.entry}{'-smoke' if budget == 'smoke' else ''}.samples"
        with locked(folder):  # Both alignments use the same samples.
            if path.exists():
                return path
            source = protein.from_pdb_id(self.entry, root / "data")
            solvent = WITHOUT_WATER if budget == "smoke" else IN_WATER
            options: dict[str, Any] = {**self.sizes[budget].counts, **solvent}
            settings = protein.ProteinSettings(source.name, source.hash, **options)
            console = resources.console
            with nullcontext() if console is None else Bars(console) as display:
                samples = protein.simulate_samples(
                    source,
                    settings,
                    folder,
                    jobs=resources.jobs,
                    engine=resources.engine,
                    display=display,
                )
            preparation = Preparation(align=self.align)
            replicas = protein.collect_replicas(samples, preparation)
            if replicas is not None:  # First: once the data exists, nothing else is made.
                files.write_own(replicas, self.replicas_file(budget, root))
            files.write_own(protein.collect(samples, preparation), path)
        return path

    def read(self, budget: str, root: Path) -> Trajectories:
        """The data; an error if it has not been made."""
        path = self.file(budget, root)
        if not path.exists():
            raise InputError(
                f"{path} does not exist. Expected the simulated {self.name}, which pgode reproduce "
                f"makes before it trains. Start it again; on a cluster, choose a --folder that "
                f"all machines share."
            )
        return files.read(path)
