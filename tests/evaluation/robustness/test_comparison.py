"""Pairs of runs and what Theorem 3.1 says of them, from known constants."""

from dataclasses import replace

import pytest

from pgode.evaluation.robustness.comparison import compare_runs
from pgode.evaluation.robustness.result import (
    Bound,
    Growth,
    Lipschitz,
    PrototypeConstant,
    RunRobustness,
    Statistics,
    TheoremCheck,
)


def run(name: str, constants: list[tuple[float, float | None]], rate: float) -> RunRobustness:
    """Constants as mean and variance; a perturbation grows by the factor `rate` in one frame."""
    prototypes = [
        PrototypeConstant(1 / len(constants), Statistics(None, mean, variance))
        for mean, variance in constants
    ]
    return RunRobustness(
        name=name,
        prototypes=len(constants),
        perturbed="state",
        forecast=tuple(Growth(m, (m, m * rate), {}, None) for m in (0.1, 0.01)),
        lipschitz=Lipschitz(1.0, Statistics(None, None, None), tuple(prototypes)),
        bound=Bound(Statistics(None, rate, None), None, None),
    )


ONE, TWO = run("one", [(2.0, 0.5)], 4.0), run("two", [(1.0, 0.1), (1.9, 0.6)], 3.0)


def test_premise_and_conclusion_of_the_theorem_are_separate() -> None:
    naive = replace(ONE, name="naive", prototypes=None, lipschitz=None, bound=None)
    (pair,) = compare_runs([TWO, naive, ONE])
    assert pair.theorem == TheoremCheck(
        premise_mean=True, premise_variance=False, bound_mean=True, bound_variance=None
    )
    assert pair.theorem.premise == (True, False) and pair.theorem.conclusion == (True, None)
    assert (pair.single, pair.several, pair.magnitude) == ("one", "two", 0.01)
    assert pair.displacement_ratio == pytest.approx(0.75)


def test_runs_without_constants_are_compared_by_their_growth_alone() -> None:
    (pair,) = compare_runs([replace(ONE, lipschitz=None, bound=None), TWO])
    assert pair.theorem is None and pair.displacement_ratio == pytest.approx(0.75)


def test_a_ratio_needs_a_displacement() -> None:
    still = replace(ONE, forecast=(Growth(0.01, (0.0, 0.0), {}, None),))
    unknown = replace(TWO, forecast=(Growth(0.01, (0.01, None), {}, None),))
    assert compare_runs([still, TWO])[0].displacement_ratio is None
    assert compare_runs([ONE, unknown])[0].displacement_ratio is None
