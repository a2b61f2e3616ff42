"""The results of `pgode robustness` in sentences."""

import math
from collections.abc import Sequence

from pgode.evaluation.robustness.result import Comparison, Robustness, RunRobustness
from pgode.reports.base.numbers import finite, power_of_ten, significant
from pgode.reports.base.verdicts import Verdict
from pgode.reports.robustness.rows import (
    ANSWERS,
    MAX_PAIRS_IN_SENTENCES,
    label,
    number,
)

MIN_EFFECTIVE_PROTOTYPES = 1.1
"""Effective prototypes per object below which the report warns that the gate does not mix."""


def verdicts(result: Robustness) -> list[Verdict]:
    """Comparisons, if there are few, then the bound of the theorem for each run."""
    runs = {run.name: run for run in result.runs}
    sentences: list[Verdict] = []
    if len(result.comparisons) <= MAX_PAIRS_IN_SENTENCES:
        for pair in result.comparisons:
            sentences += _pair_verdicts(pair, runs[pair.single], runs[pair.several], result.horizon)
    for run in result.runs:
        sentences += _run_verdicts(run, result.horizon)
    omitted = [label(run) for run in result.runs if run.bound is None]
    if omitted:
        text = (
            f"{', '.join(omitted)}: the last observed frame was perturbed. Lipschitz constants and "
            f"Theorem 3.1 apply to an integrated state and are omitted."
        )
        if len(omitted) < len(runs):
            text += " Compare growth only between runs that were perturbed in the same way."
        sentences.append(Verdict(True, text))
    return sentences


def _pair_verdicts(
    pair: Comparison, single: RunRobustness, several: RunRobustness, horizon: int
) -> list[Verdict]:
    """Measured displacement and the theorem, for several prototypes beside one."""
    ratio = finite(pair.displacement_ratio)
    sentences = [
        Verdict(
            not ratio > 1,
            f"Measured: after {horizon} frames a perturbation of {pair.magnitude:g} has moved the "
            f"forecast of {label(several)} {significant(ratio)} times as far as that of "
            f"{label(single)}.",
        )
    ]
    return sentences + _theorem_verdicts(pair, single, several)


def _theorem_verdicts(
    pair: Comparison, single: RunRobustness, several: RunRobustness
) -> list[Verdict]:
    """Premise and conclusion of the theorem; nothing for runs without Lipschitz constants."""
    if pair.theorem is None or single.bound is None or several.bound is None:
        return []
    if single.lipschitz is None or several.lipschitz is None:
        return []
    theorem = pair.theorem
    rates = [number(run.theorem.mean) for run in (several.bound, single.bound)]
    constants = [number(run.mixture.mean) for run in (several.lipschitz, single.lipschitz)]
    return [
        Verdict(
            False not in theorem.premise,
            f"Theorem 3.1 for {label(several)} beside {label(single)}. Premise, L of every "
            f"prototype is below that of the single one: {_answers(theorem.premise)}. "
            f"Conclusion, the rate of the bound is lower ({rates[0]} against {rates[1]} per "
            f"frame): {_answers(theorem.conclusion)}. L of the full right-hand side: "
            f"{constants[0]} against {constants[1]}.",
        )
    ]


def _run_verdicts(run: RunRobustness, horizon: int) -> list[Verdict]:
    """Allowed and measured growth of one run with an integrated state, and its warnings."""
    if run.state is None or run.lipschitz is None or run.bound is None:
        return []
    name = label(run)
    largest = max(finite(growth.factor[horizon]) for growth in run.state)
    allowed = _exponential(finite(run.bound.theorem.mean) * horizon)
    sentences = [
        Verdict(
            True,
            f"Theorem 3.1 allows a difference between states of {name} to grow by a factor of "
            f"{allowed} in {horizon} frames; the largest factor measured is "
            f"{significant(largest)}.",
        )
    ]
    within = finite(run.bound.share_within)
    if within < 1:
        text = (
            f"{100 * (1 - within):.2g} % of the measured steps of {name} exceed the bound: the "
            f"true Lipschitz constants are larger than the estimated ones."
        )
        sentences.append(Verdict(False, text))
    effective = run.lipschitz.effective_prototypes
    if len(run.lipschitz.prototypes) > 1 and effective < MIN_EFFECTIVE_PROTOTYPES:
        text = (
            f"The gate of {name} gives nearly all the weight of each object to one prototype "
            f"({effective:.2f} effective prototypes), so it hardly mixes them."
        )
        sentences.append(Verdict(False, text))
    return sentences


def _exponential(logarithm: float) -> str:
    """exp of a number that may be far too large to write out."""
    exponent = logarithm / math.log(10)
    if exponent < 4:
        return significant(math.exp(logarithm))
    return f"about {power_of_ten(round(exponent))}"


def _answers(answers: Sequence[bool | None]) -> str:
    """Yes or no in mean, and in variance where there is one."""
    parts = [
        f"{ANSWERS[answer]} in {measure}"
        for measure, answer in zip(("mean", "variance"), answers, strict=True)
        if answer is not None
    ]
    return f"{', '.join(parts)} over systems" if parts else "unknown"
