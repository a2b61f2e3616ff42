"""Training one trial in its run folder."""

import math
from pathlib import Path

import torch

from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.models import build_model, model_config
from pgode.runs.folder import read_config, read_normaliser
from pgode.runs.training import TrainingStopped, resume, train
from pgode.runtime.errors import BusyError, InputError, PgodeError, WriteError
from pgode.runtime.locks import locked
from pgode.runtime.settings import validated
from pgode.training import RunConfig
from pgode.training.display import Display
from pgode.training.metrics import checked_metrics
from pgode.tuning.trials.files import PLAN, State, TrialPlan, TrialResult, read_trial, write_result
from pgode.tuning.trials.pruning import PrunedError, PruningDisplay

THREADS = 1
"""Of a trial. Small operators gain little from more, and sums over one thread are reproducible."""


def run_trial(plan: TrialPlan, path: Path, data: Trajectories | None = None) -> TrialResult | None:
    """Train a trial, or continue one that was stopped; None if it is stopped again.

    One that has ended is only read. Without `data` they are read from the plan's source. Settings
    that cannot be trained, and training that diverges, are results too.
    """
    torch.set_num_threads(THREADS)
    with locked(path):
        if path.exists() and (known := _ended(path)) is not None:
            return known
        state, reason = _trained(plan, path, data)
        if state is None:
            return None
        result = _result(plan, path, state, reason)
        write_result(result, path)
        return result


def _ended(path: Path) -> TrialResult | None:
    return read_trial(path).result if (path / PLAN).exists() else None


def _trained(plan: TrialPlan, path: Path, data: Trajectories | None) -> tuple[State | None, str]:
    data = _read(plan) if data is None else data
    display: Display = Display()
    if plan.warm_up is not None:
        display = PruningDisplay(plan.history, plan.warm_up)
    try:
        if (path / "config.json").exists():
            checked_metrics(path)  # Its errors are the result: a log that was lost would change it.
            resume(path, data, display=display, calibrated=False)
        else:
            config = validated(RunConfig, plan.config, "")
            train(data, path, config, source=plan.source, display=display, calibrated=False)
    except TrainingStopped:
        return None, ""
    except PrunedError:
        return "pruned", ""
    except (WriteError, BusyError):
        raise  # The settings are not to blame: the trial stays open.
    except PgodeError as error:
        return "failed", str(error)
    return "complete", ""


def _read(plan: TrialPlan) -> Trajectories:
    """The data of the search, from its file."""
    data = files.read_again(Path(plan.source))
    if data.hash != plan.data_hash:
        raise InputError(
            f"{plan.source} has changed since the search began: its hash is {data.hash[:12]}, that "
            f"of the search {plan.data_hash[:12]}. Expected the same data. Restore the file, or "
            f"start a new search in another folder."
        )
    return data


def _result(plan: TrialPlan, path: Path, state: State, reason: str) -> TrialResult:
    rows = checked_metrics(path)
    errors = tuple(float(row["val_mse"]) for row in rows)
    if state == "complete" and not math.isfinite(min(errors, default=math.inf)):
        state, reason = "failed", "no epoch had a finite validation error"
    seconds = float(rows[-1]["seconds"]) if rows else 0.0
    return TrialResult(plan.index, state, errors, round(seconds, 3), _parameters(path), reason)


def _parameters(path: Path) -> int:
    """Trained numbers of the model in a run folder; 0 if it was never built."""
    if not (path / "config.json").exists():
        return 0
    config = read_config(path)
    settings = model_config(config.name, config.model)
    model = build_model(config.name, settings, read_normaliser(path))
    return sum(parameter.numel() for parameter in model.parameters())
