import pytest
from tests.reports.base.test_comparison import evaluation
from tests.reports.fabricate import made_evaluation

from pgode.reports.base.comparison import compare
from pgode.reports.base.verdicts import Verdict, verdict_list, verdicts


def test_a_model_below_both_naive_ones_is_said_to_be_better():
    (verdict,) = verdicts(compare(evaluation(0.02, 0.4, 0.1)))
    assert verdict.good and "Better than last value and constant velocity" in verdict.text


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
        "Worse than constant velocity, which learns nothing, in 1 of 2 cells: "
        "q at 12 frames out of distribution (3.0 ×)."
    )


def test_a_model_worse_everywhere_gets_a_short_sentence():
    found = verdicts(compare(evaluation(0.5, 0.4, 0.1)))
    assert [verdict.good for verdict in found] == [False, False]
    assert "in every cell of the table, by up to 5.0 ×" in found[1].text


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
def test_an_error_that_is_not_finite_is_named_and_never_praised(missing):
    found = verdicts(compare(evaluation(missing, 0.4, 0.1)))
    assert not any(verdict.good for verdict in found)
    assert "no finite error for q at 12 frames in distribution" in found[0].text


def test_a_list_marks_warnings_by_a_word_and_escapes():
    html = verdict_list([Verdict(False, "a < b"), Verdict(True, "fine")])
    assert "<b>Note:</b> a &lt; b" in html and '<li class="good">fine</li>' in html
    assert verdict_list([]) == ""
