import io
import re

from rich.console import Console
from tests.reports.fabricate import springs_report

from pgode.reports import error_table


def printed(evaluation: dict, **options) -> str:
    console = Console(file=io.StringIO(), width=120, **options)
    console.print(error_table(evaluation))
    return console.file.getvalue()


def small(own: float, velocity: float) -> dict:
    def table(value):
        return {split: {"12": {"q": value}} for split in ("test", "ood")}

    return {
        "model": "pgode",
        "mse": table(own),
        "naive": {"last-value": table(0.04), "constant-velocity": table(velocity)},
    }


def test_the_table_shows_values_in_a_suitable_power_and_the_skill():
    rows = [row.split() for row in printed(small(0.0003, 0.01)).splitlines()]
    assert "in units of 10⁻⁴" in printed(small(0.0003, 0.01))
    assert ["test", "pgode", "3.00"] in rows
    assert ["last", "value", "400"] in rows
    assert ["constant", "velocity", "100"] in rows
    assert rows.count(["skill", "0.9700"]) == 2


def test_the_lowest_error_is_marked_and_a_negative_skill_too():
    text = printed(small(0.03, 0.01), force_terminal=True, color_system="standard")
    assert re.search("\x1b\\[1;32m *1.00", text)  # constant velocity is best
    assert "\x1b[1;31m-2.0000" in text  # and the skill says how much worse the model is
    assert not re.search("\x1b\\[1;32m *3.00", text)


def test_skill_is_against_the_naive_model_that_the_evaluation_names():
    text = printed(small(0.03, 0.01) | {"skill_reference": "last-value"})
    assert text.count("0.2500") == 2 and "that of last value" in " ".join(text.split())


def test_columns_are_horizons_by_variables_without_single_features():
    report = springs_report(each=1)
    lines = printed(report.evaluation).splitlines()
    assert lines[2].split() == ["12", "12", "24", "24", "36", "36"]
    assert lines[3].split() == ["q", "v"] * 3
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_names_with_brackets_are_shown_as_they_are():
    given = small(0.03, 0.01) | {"model": "[bold]mine[/bold]"}
    assert "[bold]mine[/bold]" in printed(given)


def test_missing_values_and_missing_naive_models_are_no_error():
    assert "–" in printed(small(None, 0.01))
    alone = printed({"model": "m", "mse": {"test": {"12": {"q": 1.0}}}})
    assert ["test", "m", "1.00"] in [row.split() for row in alone.splitlines()]
    assert "skill" not in alone
