"""The proteins of the paper's tables: simulated once, by the grid; trials only find the files.

A simulation takes hours. It is the grid's first work therefore, with all its processes, and what
is finished of it stays in ROOT/data/5awl.samples, from which both alignments are prepared.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgode.data import files
from pgode.data.molecules import Alignment, Preparation
from pgode.data.simulate import protein
from pgode.data.simulate.protein.generate import Display
from pgode.reproduce.plan.budgets import BUDGETS
from pgode.runtime.errors import InputError
from pgode.runtime.locks import locked


@dataclass(frozen=True)
class Protein:
    """An entry of the Protein Data Bank, and how its frames are aligned."""

    entry: str
    align: Alignment
    title: str


PROTEINS = {
    "5awl": Protein("5awl", "superposed", "5AWL, superposed"),
    "2n5c": Protein("2n5c", "superposed", "2N5C, superposed"),
    "5awl-raw": Protein("5awl", "raw", "5AWL, as simulated"),
    "2n5c-raw": Protein("2n5c", "raw", "2N5C, as simulated"),
}

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
"""Enough frames for every horizon and condition of the tables, and no more."""


def protein_file(name: str, budget: str, root: Path) -> Path:
    """Where the data of a protein is, once it is made or put there."""
    return root / "data" / f"{name}-{BUDGETS[budget].molecular_train}.nc"


def replicas_file(name: str, budget: str, root: Path) -> Path:
    """Where the replicas are that tell the error no forecast can avoid."""
    data = protein_file(name, budget, root)
    return data.with_stem(f"{data.stem}-replicas")


def found_protein_file(name: str, budget: str, root: Path) -> Path:
    """The data of a protein, which is there."""
    path = protein_file(name, budget, root)
    if not path.exists():
        raise InputError(
            f"{path} is not there. Expected the simulated {name}, which pgode reproduce makes "
            f"before it trains. Start it again; on a cluster, let --folder be one that all "
            f"machines share."
        )
    return path


def make_protein_data(
    name: str,
    budget: str,
    root: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    display: Display | None = None,
) -> Path:
    """The data of a protein, simulated as far as it is not there; a file that is there stays.

    KeyboardInterrupt if asked to stop; finished samples are kept then.
    """
    path, entry = protein_file(name, budget, root), PROTEINS[name].entry
    folder = root / "data" / f"{entry}{'-smoke' if budget == 'smoke' else ''}.samples"
    with locked(folder):  # Both alignments have the same samples.
        if path.exists():
            return path
        source = protein.from_pdb_id(entry, root / "data")
        special = WITHOUT_WATER if budget == "smoke" else IN_WATER
        sizes: dict[str, Any] = {**BUDGETS[budget].molecular_counts, **special}
        settings = protein.ProteinSettings(source.name, source.hash, **sizes)
        samples = protein.simulate_samples(
            source, settings, folder, jobs=jobs, engine=engine, display=display
        )
        preparation = Preparation(align=PROTEINS[name].align)
        replicas = protein.collect_replicas(samples, preparation)
        if replicas is not None:  # First, since nobody looks for them once the data is there.
            files.write(replicas, replicas_file(name, budget, root))
        files.write(protein.collect(samples, preparation), path)
    return path
