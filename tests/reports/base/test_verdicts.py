import pytest
from tests.reports.base.test_comparison import evaluation
from tests.reports.fabricate import made_evaluation

from pgode.reports.base.comparison import compare
from pgode.reports.base.verdicts import (
    Verdict,
    all_verdicts,
    feature_verdicts,
    gate_verdicts,
    verdict_list,
    verdicts,
)
from pgode.training.gate_use import GateUse


def test_a_model_below_both_naive_ones_is_said_to_be_better():
    (verdict,) = verdicts(compare(evaluation(0.02, 0.4, 0.1)))
    assert verdict.good
    assert verdict.text == (
        "Better than the best naive model in the only cell, 0.20 × its error on average, closest "
        "for q at 12 frames in distribution (0.20 × constant velocity)."
    )


def test_a_model_above_a_naive_one_is_said_to_be_worse_where_and_by_how_much():
    def table(test, ood):
        return {"test": {12: {"q": test}}, "ood": {12: {"q": ood}}}

    given = made_evaluation(
        mse=table(0.02, 0.3),
        naive={"last-value": table(0.4, 0.4), "constant-velocity": table(0.1, 0.1)},
        variables=("q",),
    )
    (verdict,) = verdicts(compare(given))
    assert not verdict.good
    assert verdict.text == (
        "Worse than constant velocity for q at 12 frames out of distribution: 3.0 ×. "
        "Better than the best naive model in 1 of 2 cells, 0.77 × its error on average."
    )


def test_a_model_worse_everywhere_gets_a_short_sentence():
    found = verdicts(compare(evaluation(0.5, 0.4, 0.1)))
    assert [verdict.good for verdict in found] == [False]
    assert found[0].text == (
        "Worse than constant velocity for q at 12 frames in distribution: 5.0 ×. In every cell no "
        "better than the best naive model, 5.0 × its error on average."
    )


def test_a_model_that_is_hardly_below_the_best_naive_one_is_not_praised():
    (verdict,) = verdicts(compare(evaluation(0.0995, 0.4, 0.1)))
    assert not verdict.good
    assert verdict.text == (
        "No better than the best naive model: 0.99 × its error on average, and in no cell clearly "
        "below it."
    )


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
def test_an_error_that_is_not_finite_is_named_and_never_praised(missing):
    found = verdicts(compare(evaluation(missing, 0.4, 0.1)))
    assert not any(verdict.good for verdict in found)
    assert "no finite error for q at 12 frames in distribution" in found[0].text


def test_a_list_marks_warnings_by_a_word_and_escapes():
    html = verdict_list([Verdict(False, "a < b"), Verdict(True, "fine")])
    assert "<b>Note:</b> a &lt; b" in html and '<li class="good">fine</li>' in html
    assert verdict_list([]) == ""


def test_a_feature_that_a_pooled_mean_hides_is_named():
    def table(x, z):
        return {"test": {12: {"q": (x + z) / 2, "x": x, "z": z}}}

    given = made_evaluation(
        mse=table(0.2, 0.023),
        naive={"last-value": table(4.0, 0.001)},
        variables=("q",),
    )
    assert verdicts(compare(given))[0].good
    (verdict,) = feature_verdicts(given)
    assert not verdict.good
    assert verdict.text == (
        "Single features worse than the best naive model: "
        "z at 12 frames in distribution (23 × last value)."
    )
    assert [each.good for each in all_verdicts(given)] == [True, False]


def test_features_are_not_repeated_where_their_variable_is_worse_everywhere():
    assert feature_verdicts(evaluation(0.5, 0.4, 0.1)) == []


def test_a_gate_that_uses_one_prototype_gets_a_sentence():
    given = made_evaluation(gate_use={"test": GateUse(5, 1.0, 1.02, 0.0)})
    (verdict,) = gate_verdicts(given)
    assert not verdict.good and "of 5 prototypes 1.02 are in use" in verdict.text
    assert gate_verdicts(made_evaluation(gate_use={"test": GateUse(5, 1.9, 2.4, 0.2)})) == []
