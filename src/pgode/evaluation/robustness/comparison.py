"""Compare runs with several prototypes to those with one, and check Theorem 3.1 for each pair."""

from collections.abc import Iterable, Sequence

from pgode.evaluation.robustness.result import Comparison, RunRobustness, TheoremCheck


def compare_runs(runs: Sequence[RunRobustness]) -> tuple[Comparison, ...]:
    """Each run with one prototype beside each run with several."""
    singles = [run for run in runs if run.prototypes == 1]
    several = [run for run in runs if run.prototypes is not None and run.prototypes > 1]
    return tuple(_compare(single, run) for single in singles for run in several)


def _compare(single: RunRobustness, several: RunRobustness) -> Comparison:
    smallest = [min(run.forecast, key=lambda growth: growth.magnitude) for run in (single, several)]
    first, second = (growth.norm[-1] for growth in smallest)
    return Comparison(
        single=single.name,
        several=several.name,
        magnitude=smallest[0].magnitude,
        displacement_ratio=second / first if first and second is not None else None,
        theorem=_check_theorem(single, several),
    )


def _check_theorem(single: RunRobustness, several: RunRobustness) -> TheoremCheck | None:
    """Premise and conclusion of the theorem; None for runs without Lipschitz constants."""
    if single.lipschitz is None or several.lipschitz is None:
        return None
    if single.bound is None or several.bound is None:
        return None
    one = single.lipschitz.prototypes[0].constant
    constants = [prototype.constant for prototype in several.lipschitz.prototypes]
    rate, single_rate = several.bound.theorem, single.bound.theorem
    return TheoremCheck(
        premise_mean=_all(_below(constant.mean, one.mean) for constant in constants),
        premise_variance=_all(_below(constant.variance, one.variance) for constant in constants),
        bound_mean=_below(rate.mean, single_rate.mean),
        bound_variance=_below(rate.variance, single_rate.variance),
    )


def _below(value: float | None, other: float | None) -> bool | None:
    return None if value is None or other is None else value < other


def _all(answers: Iterable[bool | None]) -> bool | None:
    """Whether all answers are yes; None where one of them is unknown."""
    known = list(answers)
    return None if None in known else all(known)
