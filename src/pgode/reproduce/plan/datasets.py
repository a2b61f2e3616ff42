"""The data sets of the paper's tables, made when they are first needed."""

from dataclasses import dataclass
from pathlib import Path

from pgode.data import files
from pgode.data.simulate import simulate
from pgode.reproduce.plan.budgets import BUDGETS
from pgode.reproduce.plan.molecular_data import PROTEINS, found_protein_file
from pgode.runtime.locks import locked


@dataclass(frozen=True)
class Dataset:
    """What to simulate."""

    system: str
    objects: int
    title: str


DATASETS = {
    "springs": Dataset("springs", 10, "Springs"),
    "charged": Dataset("charged", 10, "Charged"),
    "springs-30": Dataset("springs", 30, "Springs, 30 objects"),
}


def data_file(name: str, budget: str, root: Path) -> Path:
    """The file of a data set at a budget's size; simulated with seed 0 if it is not there.

    A protein takes hours, so that one has to be there: see `make_protein_data`.
    """
    if name in PROTEINS:
        return found_protein_file(name, budget, root)
    dataset, counts = DATASETS[name], BUDGETS[budget].counts
    path = root / "data" / f"{name}-{counts['train']}.nc"
    with locked(path):
        if not path.exists():
            made = simulate(
                dataset.system,
                objects=dataset.objects,
                train=counts["train"],
                val=counts["val"],
                test=counts["test"],
                ood=counts["ood"],
            )
            files.write(made, path)
    return path
