"""`pgode check` and `pgode info`: exit codes, JSON, tables, and whole lines in a pipe."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.data.checkup.made import arrays, built
from tests.data.checkup.table.test_tables import epidemic, matches

from pgode.cli.app import run_command
from pgode.data import files

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files.write(built(), "good.nc")
    states = arrays()["states"]
    states[36] = states[3]
    files.write(built(states=states), "leaky.nc")


def test_good_data_exit_with_0_and_data_with_a_problem_with_1(capsys: Captured) -> None:
    assert run_command(["check", "good.nc"]) == 0
    said = capsys.readouterr().out
    assert "Nothing odd was found." in said
    assert "pgode train good.nc -o runs/good --preset default --horizon 36" in said
    assert run_command(["check", "leaky.nc"]) == 1
    assert "problem: walk 36 (test) and walk 3 (train) hold the same frames." in (
        capsys.readouterr().out
    )


def test_json_has_the_findings_and_the_same_exit_code(capsys: Captured) -> None:
    assert run_command(["check", "leaky.nc", "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["findings"][0]["check"] == "leak"
    assert content["settings"] == {
        "preset": "default",
        "condition": 12,
        "horizon": 36,
        "epochs": None,
        "season": 0,
        "transforms": {},
    }
    assert content["naive"]["best"]["position"] == "last value"


def test_a_window_is_judged_and_a_wrong_one_is_bad_input(capsys: Captured) -> None:
    assert run_command(["check", "good.nc", "--horizon", "60"]) == 1
    assert "--horizon 48." in capsys.readouterr().out
    assert run_command(["check", "good.nc", "--condition", "0"]) == 2
    assert "--condition is 0. Expected a whole number" in capsys.readouterr().err


@pytest.mark.parametrize(
    "file, says",
    [
        ("gone.nc", "there is no such file"),
        ("gone.csv", "there is no such file"),
        ("notes.md", "the ending .md is not known"),
        ("empty.csv", "is empty"),
    ],
)
def test_bad_input_exits_with_2_and_one_paragraph(file: str, says: str, capsys: Captured) -> None:
    Path("notes.md").write_text("# notes\n")
    Path("empty.csv").write_text("")
    assert run_command(["check", file]) == 2
    error = capsys.readouterr().err.strip()
    assert says in error and len(error.splitlines()) == 1


def test_a_table_is_checked_with_the_command_that_imports_it(capsys: Captured) -> None:
    matches().to_csv("tracks.csv", index=False)
    assert run_command(["check", "tracks.csv"]) == 0
    said = capsys.readouterr().out
    assert "guessed: system match, object player, time t" in said
    assert "--features x,y --velocities --static team" in said


def test_info_of_a_table_has_its_columns(capsys: Captured) -> None:
    epidemic().to_csv("cases.csv", index=False)
    assert run_command(["info", "cases.csv"]) == 0
    said = capsys.readouterr().out
    assert "cases.csv: 800 rows" in said and "constant of objects" in said
    assert "To import it: pgode import table cases.csv -o cases.nc --object state" in said
    assert run_command(["info", "cases.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"][2]["meaning"] == "feature"


def test_in_a_pipe_nothing_is_cut_or_wrapped(capsys: Captured) -> None:
    assert run_command(["info", "good.nc"]) == 0
    said = capsys.readouterr().out
    assert f" {files.read('good.nc').hash} " in said
    (features,) = [line for line in said.splitlines() if "features" in line]
    assert "x position position m" in features and "vy velocity v m/s" in features


def test_info_tells_how_many_objects_systems_have(capsys: Captured) -> None:
    present = np.ones((40, 4), dtype=bool)
    present[3, 1:] = False
    edges = arrays()["edges"]
    edges[3] = 0
    files.write(built(present=present, edges=edges), "uneven.nc")
    assert run_command(["info", "uneven.nc"]) == 0
    assert "1 to 4 per system" in capsys.readouterr().out
