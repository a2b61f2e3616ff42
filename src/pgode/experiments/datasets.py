"""The data sets of the paper's tables, made when they are first needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgode import io, systems
from pgode.experiments.budgets import BUDGETS


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
    """The file of a data set at a budget's size; simulated with seed 0 if it is not there."""
    dataset, counts = DATASETS[name], BUDGETS[budget].counts
    path = root / "data" / f"{name}-{counts['train']}.nc"
    with locked(path):
        if not path.exists():
            made = systems.simulate(
                dataset.system,
                objects=dataset.objects,
                train=counts["train"],
                val=counts["val"],
                test=counts["test"],
                ood=counts["ood"],
            )
            io.write(made, path)
    return path


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Only one process at a time is inside the block for this path; others wait.

    The lock goes with the process that holds it, however that ends. Where the system has no such
    locks (Windows) nobody waits: two grids must not share a folder there.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
