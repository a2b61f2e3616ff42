"""The numbers of a search that pictures show."""

import math

import numpy as np
from jaxtyping import Float

from pgode.tuning.result import Tuning
from pgode.tuning.trials.files import Trial


def finite_trials(tuning: Tuning) -> list[Trial]:
    """Trials with a validation error, in their order."""
    return [trial for trial in tuning.trials if math.isfinite(trial.error)]


def best_so_far(
    tuning: Tuning,
) -> tuple[Float[np.ndarray, " trial"], Float[np.ndarray, " trial"]]:
    """Indices of trials, and the lowest error of complete ones up to each; NaN before the first."""
    trials = finite_trials(tuning)
    errors = np.array([trial.error if trial.complete else np.inf for trial in trials])
    lowest = np.minimum.accumulate(errors) if len(errors) else errors
    indices = np.array([float(trial.plan.index) for trial in trials])
    return indices, np.where(np.isfinite(lowest), lowest, np.nan)
