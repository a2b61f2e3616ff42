"""The tables of `pgode robustness` in the terminal, from numbers made by hand."""

import re

from tests.reports.robustness.results import many_pairs, observed, printed, result, run, usual

from pgode.reports.robustness.rows import label
from pgode.reports.robustness.terminal import bound_table, comparison_table, growth_table


def test_runs_are_named_by_folder_and_prototypes_or_model() -> None:
    assert [label(each) for each in usual().runs] == ["k1 (K = 1)", "k5 (K = 2)", "lstm"]
    assert label(observed("other")) == "other (lstm)"


def test_growth_table_has_factors_and_rates() -> None:
    lines = [line.split() for line in printed(growth_table(usual())).splitlines()]
    assert ["k1", "(K", "=", "1)", "forecast", "0.001", "1.82", "3.32", "0.0500"] in lines
    assert ["state", "0.1", "1.20", "1.43", "0.0150"] in lines
    assert ["lstm", "forecast", "0.001", "1.13", "1.27", "0.0100"] in lines


def test_bound_table_has_constants_of_runs_with_a_state() -> None:
    text = printed(bound_table(usual()))
    assert re.search(r"k1 \(K = 1\) +1.0 of 1 +0.0700 +2.00 +6.00", text)
    assert re.search(r"k5 \(K = 2\) +2.0 of 2 +0.0700 +1.25 +3.75 +1.00, 1.50", text)
    assert "lstm" not in text
    assert bound_table(result(observed("lstm"))) is None


def test_many_comparisons_form_a_table() -> None:
    assert comparison_table(usual()) is None
    text = printed(comparison_table(many_pairs()))
    assert re.search(r"k5-2 \(K = 2\) +k1 \(K = 1\) +1.00 × +0.875 × +no, no +yes, no", text)


def test_names_are_no_console_markup() -> None:
    assert "<b>k1[red]" in printed(growth_table(result(run("<b>k1[red]", [2.0]))))
