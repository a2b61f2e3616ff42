"""The sentences of `pgode robustness`, from numbers made by hand."""

from dataclasses import replace

import numpy as np
from tests.reports.robustness.results import HORIZON, many_pairs, observed, result, run, usual

from pgode.reports.robustness.verdicts import verdicts


def test_sentences_give_measurement_theorem_bounds_and_omissions() -> None:
    measured, theorem, *bounds, omitted = verdicts(usual())
    ratio = np.exp((0.03 - 0.05) * HORIZON)
    assert measured.good and f"k5 (K = 2) {ratio:.3f} times as far as that of k1" in measured.text
    # L is 1 and 1.5 against 2, but each variance is 0.5.
    assert not theorem.good
    assert "single one: yes in mean, no in variance over systems" in theorem.text
    assert "lower (1.88 against 3.00 per frame): yes in mean" in theorem.text
    assert "right-hand side: 0.625 against 1.00" in theorem.text
    assert "by a factor of about 10³¹ in 24 frames; the largest factor measured is 1.82" in (
        bounds[0].text
    )
    assert "lstm: the last observed frame was perturbed" in omitted.text
    assert "perturbed in the same way" in omitted.text


def test_warnings_name_steps_above_the_bound_and_a_gate_that_does_not_mix() -> None:
    usual_run = run("k2", [1.0, 1.0])
    assert usual_run.lipschitz is not None and usual_run.bound is not None
    unusual = replace(
        usual_run,
        lipschitz=replace(usual_run.lipschitz, effective_prototypes=1.02),
        bound=replace(usual_run.bound, share_within=0.98),
    )
    warnings = [verdict.text for verdict in verdicts(result(unusual)) if not verdict.good]
    assert "2 % of the measured steps of k2 (K = 2) exceed the bound" in warnings[0]
    assert "one prototype (1.02 effective prototypes)" in warnings[1]


def test_without_constants_the_measurement_is_still_compared() -> None:
    measured, omitted = verdicts(result(observed("a", "pgode", 1), observed("b", "pgode", 5)))
    assert "b (K = 5) 1.00 times as far as that of a (K = 1)" in measured.text
    assert "a (K = 1), b (K = 5): the last observed frame was perturbed" in omitted.text
    assert "same way" not in omitted.text


def test_many_comparisons_are_left_to_the_table() -> None:
    assert not any("times as far" in verdict.text for verdict in verdicts(many_pairs()))
