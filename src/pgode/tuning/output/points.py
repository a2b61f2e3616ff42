"""The numbers of a search that pictures show."""

import math

import numpy as np
from jaxtyping import Float

from pgode.tuning.result import Tuning
from pgode.tuning.trials.files import Trial

WIDE = 4.0
"""A larger factor between errors needs a logarithmic axis."""


def finite_trials(tuning: Tuning) -> list[Trial]:
    """Trials with a validation error, in their order."""
    return [trial for trial in tuning.trials if math.isfinite(trial.error)]


def is_wide(errors: Float[np.ndarray, " n"]) -> bool:
    """Whether errors differ by more than `WIDE`, so that their logarithms are shown."""
    known = errors[np.isfinite(errors) & (errors > 0)]
    return len(known) > 0 and bool(known.max() > WIDE * known.min())


def best_so_far(
    tuning: Tuning,
) -> tuple[Float[np.ndarray, " trial"], Float[np.ndarray, " trial"]]:
    """Indices of trials, and the lowest error of complete ones up to each; NaN before the first."""
    trials = finite_trials(tuning)
    errors = np.array([trial.error if trial.complete else np.inf for trial in trials])
    lowest = np.minimum.accumulate(errors) if len(errors) else errors
    indices = np.array([float(trial.plan.index) for trial in trials])
    return indices, np.where(np.isfinite(lowest), lowest, np.nan)
