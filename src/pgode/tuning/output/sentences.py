"""What a search has found, in sentences and rows that the terminal and the page share."""

from pgode.reports.base.numbers import percent, significant
from pgode.tuning.output.points import finite_trials
from pgode.tuning.result import Tuning
from pgode.tuning.space.domains import short_names, shown
from pgode.tuning.trials.files import Trial

FEW = 20
"""Trials below which the importance of settings is a hint."""


def verdict(tuning: Tuning) -> str:
    """The best trial beside the preset."""
    best, preset = tuning.best, tuning.preset
    text = f"Trial {best.plan.index} has the lowest validation error, {significant(best.error, 4)}"
    if preset is None:
        return f"{text}. The preset is not in the space, so there is nothing to compare with."
    if preset.plan.index == best.plan.index:
        return f"{text}: no trial was better than the settings that the search started from."
    if not preset.complete:
        return f"{text}. The settings that the search started from could not be trained."
    share = 1 - best.error / preset.error
    return f"{text}, {percent(share)} below the {significant(preset.error, 4)} of the preset."


def counted(tuning: Tuning) -> str:
    """How many trials ended how."""
    counts = {state: count for state, count in tuning.counts.items() if count}
    text = ", ".join(f"{count} {state}" for state, count in counts.items())
    return f"{text}; every combination was tried" if tuning.exhausted else text


def importance_note(tuning: Tuning) -> str:
    """What the shares are, and how far to trust them."""
    trials = len(finite_trials(tuning))
    text = (
        "The share of each setting in which trials are among the best quarter "
        f"(PED-ANOVA, {trials} trials)"
    )
    return f"{text}; a hint only, because they are few." if trials < FEW else f"{text}."


def columns(tuning: Tuning) -> list[str]:
    """Titles of a table of trials."""
    return ["trial", "validation error", "epochs", *short_names(tuning.record.space).values()]


def cells(trial: Trial, tuning: Tuning) -> list[str]:
    """A row of it."""
    result = trial.result
    assert result is not None
    error = significant(trial.error, 4)
    state = "" if result.state == "complete" else f" ({result.state})"
    values = [shown(trial.plan.values[name]) for name in tuning.record.space]
    return [str(trial.plan.index), f"{error}{state}", str(len(result.errors)), *values]
