import pytest
from tests.reports.fabricate import made_evaluation, springs_report

from pgode.reports.run.uncertainty import interval_verdicts, intervals_html


def covered(level: int, cells: dict):
    return made_evaluation(scores={f"coverage_{level}": {"test": cells}})


@pytest.mark.parametrize(
    "shares, good, text",
    [
        ((0.88, 0.71), False, "too narrow: at worst they contain 71 % of q at 24 frames"),
        ((0.88, 0.93), True, "about right: they contain 88 % to 93 %"),
    ],
)
def test_intervals_are_judged_by_their_worst_cell(shares, good, text):
    cells = {h: {"q": share} for h, share in zip((12, 24), shares, strict=True)}
    (verdict,) = interval_verdicts(covered(90, cells), ["q"])
    assert verdict.good is good and text in verdict.text


def test_an_interval_that_holds_too_much_is_called_wide_but_is_no_warning():
    (verdict,) = interval_verdicts(covered(50, {12: {"q": 0.8}}), ["q"])
    assert verdict.good and "wide: they contain up to 80 %" in verdict.text


def test_the_table_has_both_intervals_and_crps_for_each_variable():
    html = intervals_html(springs_report(each=1).evaluation, ["q", "v"])
    assert html.count("50 % interval</th>") == html.count("CRPS</th>") == 2
    assert "expected 90 %, measured 71 %: too narrow" in html  # q, 36 frames, ood
    assert intervals_html(made_evaluation(), ["q"]) == ""
