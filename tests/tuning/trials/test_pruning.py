"""Pruning: by the median of complete trials, after the warm-up, the same after an interruption."""

import math

import pytest

from pgode.training.checkpoint import Progress
from pgode.tuning.trials.pruning import COMPLETE, PrunedError, PruningDisplay

HISTORY = [(8.0, 4.0, 2.0, 1.0 + k / 10) for k in range(COMPLETE)]


def row(epoch: int, error: float):
    return {"epoch": epoch, "train": {}, "val_mse": error, "lr": 0.0, "seconds": 1.0}


def epochs_of(errors, history=HISTORY, warm_up=2) -> int:
    """Epochs until a trial with these errors is pruned; all if it is not."""
    display = PruningDisplay(history, warm_up)
    display.begin(len(errors), 1, Progress(), [])
    for epoch, error in enumerate(errors, 1):
        try:
            display.epoch(Progress(epoch), row(epoch, error))
        except PrunedError:
            return epoch
    return len(errors)


def test_a_trial_above_the_median_is_pruned_after_the_warm_up():
    assert epochs_of([9, 5, 3, 2]) == 2
    assert epochs_of([9, 3, 3, 2]) == 3
    assert epochs_of([7, 3, 1.5, 2]) == 4


def test_a_forecast_that_cannot_be_solved_counts_as_bad():
    assert epochs_of([math.inf, math.inf, 1, 1]) == 2


def test_the_last_epoch_is_not_pruned_and_few_trials_are_no_measure():
    assert epochs_of([7, 3, 1.5, 99]) == 4
    assert epochs_of([99, 99, 99, 99], HISTORY[:-1]) == 4


def test_a_resumed_trial_is_pruned_where_it_would_have_been():
    display = PruningDisplay(HISTORY, 2)
    with pytest.raises(PrunedError):
        display.begin(4, 1, Progress(2), [row(1, 9), row(2, 5)])
    display = PruningDisplay(HISTORY, 2)
    display.begin(4, 1, Progress(2), [row(1, 9), row(2, 3)])
    with pytest.raises(PrunedError):
        display.epoch(Progress(3), row(3, 2.5))
