import io
import re

from rich.console import Console
from tests.reports.fabricate import made_evaluation, springs_report

from pgode.evaluation.evaluation import Evaluation, NoiseFloor, ScoreTable
from pgode.reports import error_table
from pgode.reports.terminal import percent_range


def printed(evaluation: Evaluation, **options) -> str:
    console = Console(file=io.StringIO(), width=120, **options)
    console.print(error_table(evaluation))
    return console.file.getvalue()


def table(value: float | None) -> dict:
    return {split: {12: {"q": value}} for split in ("test", "ood")}


def small(own: float | None, velocity: float, **others) -> Evaluation:
    return made_evaluation(
        mse=table(own),
        naive={"last-value": table(0.04), "constant-velocity": table(velocity)},
        variables=("q",),
        **others,
    )


def test_the_table_shows_values_in_a_suitable_power_and_the_skill():
    rows = [row.split() for row in printed(small(0.0003, 0.01)).splitlines()]
    assert "in units of 10⁻⁴" in printed(small(0.0003, 0.01))
    assert ["test", "pgode", "3.00"] in rows
    assert ["last", "value", "400"] in rows
    assert ["constant", "velocity", "100*"] in rows  # the best naive model
    assert rows.count(["skill", "0.9700"]) == 2


def test_the_lowest_error_is_marked_and_a_negative_skill_too():
    text = printed(small(0.03, 0.01), force_terminal=True, color_system="standard")
    assert re.search("\x1b\\[1;32m *1.00", text)  # constant velocity is best
    assert re.search(
        "\x1b\\[1;31m *-2.0000", text
    )  # and the skill says how much worse the model is
    assert not re.search("\x1b\\[1;32m *3.00", text)


def test_skill_is_against_the_best_naive_model_of_each_column():
    def two(q: float, v: float) -> dict:
        return {"test": {12: {"q": q, "v": v}}}

    given = made_evaluation(
        mse=two(1.0, 1.0),
        naive={"last-value": two(4.0, 2.0), "constant-velocity": two(2.0, 10.0)},
        variables=("q", "v"),
    )
    rows = [row.split() for row in printed(given).splitlines()]
    assert ["last", "value", "4.00", "2.00*"] in rows
    assert ["constant", "velocity", "2.00*", "10.0"] in rows
    assert ["skill", "0.5000", "0.5000"] in rows


def test_columns_are_horizons_by_variables_without_single_features():
    report = springs_report(each=1)
    lines = printed(report.evaluation).splitlines()
    assert lines[2].split() == ["12", "12", "24", "24", "36", "36"]
    assert lines[3].split() == ["q", "v"] * 3
    assert max(len(line.rstrip()) for line in lines) <= 80


def test_names_with_brackets_are_shown_as_they_are():
    assert "[bold]mine[/bold]" in printed(small(0.03, 0.01, model="[bold]mine[/bold]"))


def test_missing_values_and_missing_naive_models_are_no_error():
    assert "–" in printed(small(None, 0.01))
    alone = printed(made_evaluation("m", {"test": {12: {"q": 1.0}}}, variables=("q",)))
    assert ["test", "m", "1.00"] in [row.split() for row in alone.splitlines()]
    assert "skill" not in alone


def test_a_noise_floor_adds_its_error_and_the_share_of_the_achievable_improvement():
    floor = NoiseFloor(
        ScoreTable({"test": {12: {"q": 0.005}}}),
        {},
        conditions=7,
        replicas=4,
        share=ScoreTable({"test": {12: {"q": 0.61}}}),
        share_low=ScoreTable({"test": {12: {"q": 0.514}}}),
        share_high=ScoreTable({"test": {12: {"q": 0.69}}}),
    )
    text = printed(small(0.03, 0.01, noise_floor=floor))
    rows = [row.split() for row in text.splitlines()]
    assert rows.count(["noise", "floor", "0.500"]) == 1
    assert ["share", "of", "the", "achievable", "61", "(51", "to", "69)", "%"] in rows
    assert "on the 7 systems with replicas" in text
    bare = printed(small(0.03, 0.01, noise_floor=NoiseFloor(floor.mse, {}, 7, 4)))
    assert "noise floor" in bare and "share" not in bare


def test_shares_far_below_zero_and_without_a_range_are_short():
    assert percent_range(-1.5, -2.0, -1.1) == "< -100 %"
    assert percent_range(-0.02, -0.05, 0.01) == "-2 (-5 to 1) %"
    assert percent_range(-0.001, -0.004, 0.001) == "0 (0 to 0) %"
    assert percent_range(0.614, None, None) == "61 %" and percent_range(None, None, None) == "-"
