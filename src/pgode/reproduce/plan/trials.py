"""A trial: one model trained once on one data set and scored. The grid is made of them."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pgode import __version__
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.reproduce.plan.datasets import data_file
from pgode.reproduce.plan.molecular_data import PROTEINS, replicas_file
from pgode.reproduce.plan.regimes import CONDITION, regime_of
from pgode.runs.run import Run
from pgode.runs.training import TrainingStopped, resume, train
from pgode.runtime.files import write_json
from pgode.runtime.locks import locked
from pgode.training.config import RunConfig, run_config
from pgode.training.display import Display


@dataclass(frozen=True)
class Trial:
    """Everything that determines the numbers of one trial.

    `settings` change the model's preset ("model.prototypes", 3). `systems` is how many training
    systems it sees (0: all), for the short runs that choose a learning rate.
    """

    dataset: str
    budget: str
    model: str
    preset: str = "default"
    settings: tuple[tuple[str, Any], ...] = ()
    epochs: int = 10
    rate: float = 1e-3
    seed: int = 0
    condition: int = CONDITION
    horizon: int = 36
    systems: int = 0

    @property
    def tuning(self) -> bool:
        """Whether it only helps to choose a learning rate; its test systems are left alone."""
        return self.systems > 0

    @property
    def key(self) -> str:
        """A name for its files: readable, and different for trials that differ in anything."""
        text = json.dumps(asdict(self), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.dataset}-{self.model}-{digest}"

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "Trial":
        """Read back what `asdict` and JSON made of it."""
        settings = tuple((str(key), value) for key, value in content["settings"])
        return cls(**{**content, "settings": settings})

    def config(self, threads: int | None) -> RunConfig:
        """The settings of its run: the same windows, steps and optimiser for every model."""
        regime = regime_of(self.dataset)
        shared: dict[str, Any] = {
            **regime.settings_of(self.model),
            "window.starts": "random",
            "window.condition": self.condition,
            "window.horizon": self.horizon,
            "training.batch": regime.batch,
            "training.curriculum": regime.curriculum,
            "training.optimiser": "adamw",
            "training.epochs": self.epochs,
            "training.learning_rate": self.rate,
            "training.seed": self.seed,
            "training.threads": threads,
        }
        return run_config(self.model, self.preset, None, {**shared, **dict(self.settings)})


def result_file(trial: Trial, root: Path) -> Path:
    """Where a trial's numbers are, once it is finished."""
    return root / "results" / f"{trial.key}.json"


def run_folder(trial: Trial, root: Path) -> Path:
    """Where a trial's run is, finished or not."""
    return root / "runs" / trial.key


def read_result(trial: Trial, root: Path) -> dict[str, Any] | None:
    """The numbers of a finished trial."""
    path = result_file(trial, root)
    if not path.exists():
        return None
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def run_trial(
    trial: Trial, root: Path, threads: int | None = None, display: Display | None = None
) -> dict[str, Any] | None:
    """Train and score a trial, or go on where it was stopped; None if it is stopped again.

    A finished one is only read. Two processes that are given the same trial do it once.
    """
    with locked(run_folder(trial, root)):
        done = read_result(trial, root)
        if done is not None:
            return done
        data = _seen(files.read(data_file(trial.dataset, trial.budget, root)), trial.systems)
        try:
            run = _trained(trial, data, root, threads, display)
        except TrainingStopped:
            return None
        result = _scored(trial, run, data, _replicas(trial, root))
        write_json(result_file(trial, root), result)
        return result


def _seen(data: Trajectories, systems: int) -> Trajectories:
    """The data with the first training systems only, if there is a limit."""
    if not systems:
        return data
    training = np.flatnonzero(data.split == "train")
    return data.select(np.setdiff1d(np.arange(data.systems), training[systems:]))


def _trained(
    trial: Trial, data: Trajectories, root: Path, threads: int | None, display: Display | None
) -> Run:
    folder = run_folder(trial, root)
    if (folder / "config.json").exists():
        return resume(folder, data, display=display, calibrated=False)
    return train(data, folder, trial.config(threads), display=display, calibrated=False)


def _replicas(trial: Trial, root: Path) -> Trajectories | None:
    """Several futures of one state, where there are any that part where the condition ends."""
    if trial.dataset not in PROTEINS or trial.condition != CONDITION:
        return None
    path = replicas_file(trial.dataset, trial.budget, root)
    return files.read(path) if path.exists() else None


def _scored(
    trial: Trial, run: Run, data: Trajectories, replicas: Trajectories | None
) -> dict[str, Any]:
    """What a table needs of a finished run, and what identifies it."""
    epochs = run.epochs
    best = min((float(row["val_mse"]) for row in epochs), default=None)
    result: dict[str, Any] = {
        "trial": asdict(trial),
        "validation": best if best is not None and math.isfinite(best) else None,
        "epochs": len(epochs),
        "seconds_per_epoch": round(epochs[-1]["seconds"] / len(epochs), 3) if epochs else 0.0,
        "memory_gb": epochs[-1].get("memory_gb") if epochs else None,
        "parameters": sum(p.numel() for p in run.model.parameters()),
        "threads": run.config.training.threads,
        "data_hash": data.hash,
        "pgode": __version__,
    }
    if trial.tuning:
        return result
    scored = regime_of(trial.dataset).scored
    horizons = [h for h in scored if h <= trial.horizon] or [trial.horizon]
    found = run.evaluate(data, horizons=horizons, samples=0, replicas=replicas)
    kept = ("mse", "naive", "energy_drift", "noise_floor")
    return {**result, **{key: found[key] for key in kept if key in found}}
