"""A search with every kind of trial, without any training."""

import math
from pathlib import Path

from pgode.training.config import run_config
from pgode.tuning.record import TuningRecord
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import Choice, Range
from pgode.tuning.study import importances
from pgode.tuning.trials.files import Trial, TrialPlan, TrialResult

SPACE = {
    "training.learning_rate": Range(1e-4, 1e-1, log=True),
    "training.optimiser": Choice(("adam", "adamw")),
    "model.width": Choice((4, 6, 8)),
}


def fabricated(folder: Path, count: int = 24) -> Tuning:
    """Complete and pruned trials, one that failed, one that was infinite at first."""
    trials = []
    for index in range(count):
        rate = 10 ** (-4 + 3 * ((7 * index) % count) / max(count - 1, 1))
        values = {
            "training.learning_rate": rate,
            "training.optimiser": ("adam", "adamw")[index % 2],
            "model.width": (4, 6, 8)[index % 3],
        }
        error = 1e-3 * (1 + 5 * abs(math.log10(rate) + 2.5))
        errors = tuple(error * (1 + 3 / epoch**2) for epoch in range(1, 7))
        state, reason = ("pruned", "") if index > 5 and index % 2 else ("complete", "")
        if state == "pruned":
            errors = errors[:3]
        if index == 3:
            errors = (math.inf, *errors[1:])
        if index == 4:
            state, errors, reason = "failed", (), "the loss of <b>everything</b> is not finite."
        plan = TrialPlan(index, values, {}, "0" * 64, "data.nc", (), 2)
        trials.append(Trial(plan, TrialResult(index, state, errors, 1.5, 321, reason)))
    config = run_config("gru", changes={"training.epochs": 6})
    record = TuningRecord("0" * 64, "data.nc", config, config, SPACE, True)
    shares = importances(SPACE, trials)
    return Tuning(folder, record, trials, shares, {}, False, trials[0])
