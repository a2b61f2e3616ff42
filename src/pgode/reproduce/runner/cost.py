"""The cost of an epoch of every row, measured in one process (the paper's Table 15).

A figure that shows cost is measured in the same way, at every value of its axis: seconds of
trainings that ran on different days, beside different work, cannot be compared.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pgode import __version__
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.models import Forecaster, build_model, model_config
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.plan.stored import StoredCost
from pgode.reproduce.plan.trials import Trial
from pgode.reproduce.tables.catalogue import Experiment, Row
from pgode.runtime.stored.schema import parsed
from pgode.runtime.stored.sealed import read_sealed, write_sealed
from pgode.training.step_cost import measure_steps

ROUNDS = 5
THREADS = 1


@dataclass(frozen=True)
class EpochCost:
    """Seconds of an epoch of one model, and the model's size."""

    seconds: float
    parameters: int


@dataclass(frozen=True)
class CostMeasurement:
    """The epochs of all rows on one data set."""

    dataset: str
    threads: int
    pgode: str
    """The version that measured it."""
    steps_per_epoch: int
    rows: dict[str, EpochCost]
    """By the name that `timed_name` gives."""

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "CostMeasurement":
        """Read back what `asdict` made."""
        rows = {label: EpochCost(**cost) for label, cost in content["rows"].items()}
        return cls(**{**content, "rows": rows})


def timed_name(label: str, axis_value: int | None) -> str:
    """The name of a row in a measurement; in a figure also of a value of its axis."""
    return label if axis_value is None else f"{label}, {axis_value}"


def timed_rows(experiment: Experiment) -> dict[str, Row]:
    """What is timed, by name: every row, in a figure at every value of its axis."""
    axis = experiment.axis
    if axis is None:
        return {timed_name(row.label, None): row for row in experiment.rows}
    return {
        timed_name(row.label, value): replace(
            row, settings=(*row.settings, *axis.settings_at(value))
        )
        for row in experiment.rows
        for value in axis.values
    }


def cost_file(experiment: Experiment, dataset: str, budget: str, root: Path) -> Path:
    """Path of the measurement on a data set."""
    name = dataset if experiment.axis is None else f"{experiment.name}-{dataset}"
    return root / "results" / f"cost-{name}-{budget}.json"


def read_cost(
    experiment: Experiment, dataset: str, budget: str, root: Path
) -> CostMeasurement | None:
    """The measurement on a data set; None if it has not been made."""
    path = cost_file(experiment, dataset, budget, root)
    if not path.exists():
        return None
    fix = "Remove the file: it is then measured again."
    content = read_sealed(path, fix)
    parsed(StoredCost, content, str(path), fix)
    return CostMeasurement.from_json(content)


def measure_cost(
    experiment: Experiment,
    dataset: str,
    budget: str,
    root: Path,
    on_progress: Callable[[str], None],
) -> CostMeasurement:
    """Time the training steps of every row on a data set, and store them.

    Uses the median step of each row. Batch and horizon are those of the trials. In one thread, and
    in seconds of the processor: how far two threads help, and how long one waits for its turn,
    depends on what else the machine does.
    """
    spec = DATASETS[dataset]
    data = spec.read(budget, root).split_of("train")
    normaliser = Normaliser.fit(data)
    models = {
        name: _model(row, dataset, budget, normaliser)
        for name, row in timed_rows(experiment).items()
    }
    windows = Windows(data, normaliser, spec.condition, spec.horizon)
    first = np.arange(min(spec.batch, len(windows)))
    batch = windows.batch(first, np.zeros_like(first))
    with _threads(THREADS):
        costs = measure_steps(
            *(models, batch, ROUNDS),
            on_progress=lambda text: on_progress(f"timing {dataset}, {text}"),
            clock=time.process_time,
        )
    steps = math.ceil(spec.sizes[budget].train / spec.batch)
    rows = {name: EpochCost(steps * cost.median, cost.parameters) for name, cost in costs.items()}
    measured = CostMeasurement(dataset, THREADS, __version__, steps, rows)
    write_sealed(cost_file(experiment, dataset, budget, root), asdict(measured))
    return measured


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _model(row: Row, dataset: str, budget: str, normaliser: Normaliser) -> Forecaster:
    config = Trial(dataset, budget, row.model, row.preset, row.settings).config(None)
    torch.manual_seed(0)
    return build_model(config.name, model_config(config.name, config.model), normaliser)
