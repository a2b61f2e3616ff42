"""Stopping a trial whose validation error is above the median of complete trials."""

import math
from collections.abc import Sequence

from pgode.training.checkpoint import Progress
from pgode.training.display import Display
from pgode.training.metrics import EpochRow
from pgode.tuning.study import optuna

COMPLETE = 5
"""Complete trials to compare with before any is pruned."""


class PrunedError(Exception):
    """The trial is not worth continuing; its run folder has the state after this epoch."""


class PruningDisplay(Display):
    """Reports each epoch to Optuna's median pruner, which compares with `history`.

    Epochs from before an interruption are reported when training resumes, so that the decision
    after each epoch is the same with and without one.
    """

    def __init__(self, history: Sequence[Sequence[float]], warm_up: int) -> None:
        module = optuna()
        pruner = module.pruners.MedianPruner(n_startup_trials=COMPLETE, n_warmup_steps=warm_up)
        study = module.create_study(pruner=pruner)
        for errors in history:
            study.add_trial(
                module.trial.create_trial(
                    value=min(errors), intermediate_values=dict(enumerate(errors, 1))
                )
            )
        self.trial = study.ask()
        self.epochs = math.inf

    def begin(self, epochs: int, steps: int, progress: Progress, rows: list[EpochRow]) -> None:
        """Report what is done already."""
        self.epochs = epochs
        for row in rows:
            self._report(row, finished=progress.finished)

    def epoch(self, progress: Progress, row: EpochRow) -> None:
        """Report an epoch; `PrunedError` if it is the last."""
        self._report(row, finished=progress.finished)

    def _report(self, row: EpochRow, *, finished: bool) -> None:
        self.trial.report(row["val_mse"], row["epoch"])
        if row["epoch"] < self.epochs and not finished and self.trial.should_prune():
            raise PrunedError
