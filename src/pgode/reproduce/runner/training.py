"""Training and scoring one trial."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from pgode import __version__
from pgode.batches.devices import AUTO
from pgode.data.trajectories import Trajectories
from pgode.evaluation.covid.result import TotalScores
from pgode.evaluation.evaluation import Evaluation
from pgode.reproduce.datasets.dataset import Dataset
from pgode.reproduce.datasets.epidemic import ReportedEpidemic
from pgode.reproduce.datasets.registry import DATASETS
from pgode.reproduce.plan.results import Result, read_result, write_result
from pgode.reproduce.plan.selection import tuning_of
from pgode.reproduce.plan.trials import Trial, run_folder
from pgode.runs.run import Run
from pgode.runs.training import TrainingStopped, resume, train
from pgode.runtime.errors import TrainingError
from pgode.runtime.locks import locked
from pgode.training.display import Display
from pgode.training.metrics import checked_metrics


def run_trial(
    trial: Trial,
    root: Path,
    threads: int | None = None,
    display: Display | None = None,
    device: str = AUTO,
) -> Result | None:
    """Train and score a trial, or continue one that was stopped; None if it is stopped again.

    A finished one is only read. Two processes with the same trial run it once. One whose loss is no
    longer finite is finished too, without scores: it would end so again.
    """
    with locked(run_folder(trial, root)):
        finished = read_result(trial, root)
        if finished is not None:
            return finished
        dataset = DATASETS[trial.dataset]
        read = dataset.read_tuning if trial.tuning else dataset.read
        data = _first_systems(read(trial.budget, root), trial.systems)
        try:
            run = _train(trial, data, root, threads, display, device)
        except TrainingStopped:
            return None
        except TrainingError:
            result = _diverged(trial, data, root, threads)
        else:
            scores = _evaluate(trial, run, data, dataset, root)
            result = _result(trial, run, data, root, scores)
            result = replace(result, totals=_totals(trial, run, dataset, root))
        write_result(result, root)
        return result


def _first_systems(data: Trajectories, count: int) -> Trajectories:
    """The data with only the first training systems; all of them if `count` is 0."""
    if not count:
        return data
    training = np.flatnonzero(data.split == "train")
    return data.select(np.setdiff1d(np.arange(data.systems), training[count:]))


def _train(
    trial: Trial,
    data: Trajectories,
    root: Path,
    threads: int | None,
    display: Display | None,
    device: str,
) -> Run:
    folder = run_folder(trial, root)
    if (folder / "config.json").exists():
        checked_metrics(folder)  # The result is made of it: a log that was lost would change it.
        return resume(folder, data, display=display, calibrated=False, device=device)
    config = trial.config(threads)
    return train(data, folder, config, display=display, calibrated=False, device=device)


def _evaluate(
    trial: Trial, run: Run, data: Trajectories, dataset: Dataset, root: Path
) -> Evaluation | None:
    """The scores of a finished run; None if it only serves to choose a learning rate."""
    if trial.tuning or isinstance(dataset, ReportedEpidemic):
        return None
    horizons = [h for h in dataset.horizons if h <= trial.horizon] or [trial.horizon]
    # Replicas branch off where the default condition ends.
    default = trial.condition == dataset.condition
    replicas = dataset.read_replicas(trial.budget, root) if default else None
    return run.evaluate(data, horizons=horizons, samples=0, replicas=replicas)


def _totals(trial: Trial, run: Run, dataset: Dataset, root: Path) -> TotalScores | None:
    """Scores of window totals, on data that is judged by them.

    The spread of the quantiles is that of the short run with the same learning rate.
    """
    if not isinstance(dataset, ReportedEpidemic):
        return None
    if trial.tuning:
        return dataset.spread(run, trial.budget, root)
    short = read_result(tuning_of(trial), root)
    known = None if short is None or short.totals is None else short.totals.spread
    return dataset.totals(run, trial.budget, root, known)


def _result(
    trial: Trial, run: Run, data: Trajectories, root: Path, evaluation: Evaluation | None
) -> Result:
    lowest = min((float(row["val_mse"]) for row in checked_metrics(run.folder)), default=math.inf)
    return replace(
        _diverged(trial, data, root, run.config.training.threads),
        validation=lowest if math.isfinite(lowest) else None,
        parameters=sum(p.numel() for p in run.model.parameters()),
        evaluation=evaluation,
    )


def _diverged(trial: Trial, data: Trajectories, root: Path, threads: int | None) -> Result:
    """How far a training came, without a score."""
    epochs = checked_metrics(run_folder(trial, root))
    return Result(
        trial=trial,
        validation=None,
        epochs=len(epochs),
        seconds_per_epoch=round(epochs[-1]["seconds"] / len(epochs), 3) if epochs else 0.0,
        memory_gb=epochs[-1].get("memory_gb") if epochs else None,
        parameters=0,
        threads=threads,
        data_hash=data.hash,
        pgode=__version__,
    )
