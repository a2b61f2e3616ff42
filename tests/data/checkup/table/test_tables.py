"""Raw tables: the meaning of columns is guessed, and the command does what the check said."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.checkup.checkup import examine
from pgode.data.checkup.table.examination import examine_table, table_facts
from pgode.data.checkup.table.guess import guess, has_no_header, headless_names
from pgode.runtime.errors import InputError


def epidemic() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    days = np.arange(200)
    parts = []
    for k, state in enumerate(("Ohio", "Iowa", "Utah", "Maine")):
        level = np.exp(2.5 * k + np.sin(days / 30)) * (1 + 0.5 * np.sin(2 * np.pi * days / 7))
        parts.append(
            pd.DataFrame(
                {
                    "date": pd.date_range("2020-03-01", periods=200).strftime("%Y-%m-%d"),
                    "state": state,
                    "confirmed": rng.poisson(level),
                    "population": 1000 * (k + 1),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def matches() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for match in range(6):
        for player in range(3):
            start, rate = rng.uniform(0, 50, 2), rng.normal(size=2)
            for frame in range(60):
                x, y = start + 0.1 * frame * rate
                rows.append((f"m{match}", f"p{player}", 0.1 * frame, x, y, "ab"[player % 2]))
    return pd.DataFrame(rows, columns=["match", "player", "t", "x", "y", "team"])


def test_columns_of_an_epidemic_are_guessed_by_name_and_type():
    found = guess(epidemic())
    assert (found.time, found.object, found.system) == ("date", "state", "")
    assert found.features == ("confirmed",) and found.static == ("population",)
    assert found.dated and not found.needs_velocities


def test_columns_of_matches_are_guessed_with_positions():
    found = guess(matches())
    assert (found.time, found.object, found.system) == ("t", "player", "match")
    assert found.features == ("x", "y") and found.static == ("team",) and found.needs_velocities


def test_names_that_say_nothing_are_guessed_by_what_makes_rows_unique():
    frame = matches().rename(columns={"match": "a", "player": "b", "t": "time", "x": "c", "y": "d"})
    found = guess(frame[["a", "b", "time", "c", "d"]])
    assert {found.object, found.system} == {"a", "b"} and found.features == ("c", "d")


def test_a_place_that_was_corrected_once_is_no_feature():
    frame = epidemic()
    frame["lat"] = np.where(frame["date"] < "2020-05-01", 40.0, 40.1)
    frame["fips"] = frame["state"].str.len()
    found = guess(frame)
    assert found.features == ("confirmed",) and found.static == ("population",)
    assert found.meaning("lat") == found.meaning("fips") == "not used"


def test_a_split_column_is_one_that_holds_splits():
    frame = matches()
    frame["set"] = np.where(frame["match"] < "m4", "train", "test")
    assert guess(frame).split == "set"
    frame["set"] = "other"
    assert guess(frame).split == ""


def test_four_columns_of_numbers_are_frames_ids_and_positions(tmp_path: Path):
    frame = matches()
    plain = pd.DataFrame(
        {
            "f": (10 * frame["t"]).round().astype(int),
            "id": frame["player"].str[1].astype(int) + 3 * frame["match"].str[1].astype(int),
            "x": frame["x"],
            "y": frame["y"],
        }
    ).sort_values(["f", "id"])
    path = tmp_path / "walkers.txt"
    plain.to_csv(path, sep="\t", header=False, index=False)
    found = examine_table(path)
    assert "--no-header --columns frame,id,x,y" in found.commands[0]
    assert found.contents["objects"] == "18 objects per system"
    assert headless_names(plain) == ("frame", "id", "x", "y")
    assert has_no_header("0\t1\t2.5\t-1e3\n") and not has_no_header("t,id,x1\n")


@pytest.mark.parametrize("table", [epidemic, matches], ids=["epidemic", "matches"])
def test_the_suggested_commands_make_what_was_checked(
    table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    table().to_csv("mine.csv", index=False)
    checked = examine_table(Path("mine.csv"))
    assert run_command(shlex.split(checked.commands[0])[1:]) == 0
    again = examine(files.read("mine.nc"), "mine.nc")
    for key in ("systems", "objects", "frames", "time"):
        assert again.contents[key] == checked.contents[key]
    assert again.commands[-1] == checked.commands[-1]
    assert not again.has_problems


def test_counts_by_day_get_a_logarithm_and_the_weekday(tmp_path: Path):
    path = tmp_path / "cases.csv"
    epidemic().to_csv(path, index=False)
    found = examine_table(path)
    assert found.commands[0].endswith("--transform log1p --known weekday")
    assert "window.condition=14" in found.commands[1]


def test_two_rows_of_one_object_and_time_are_a_problem_with_their_line(tmp_path: Path):
    frame = matches()
    path = tmp_path / "tracks.csv"
    pd.concat([frame, frame.iloc[70:73]]).to_csv(path, index=False)
    (problem,) = [f for f in examine_table(path).findings if f.severity == "problem"]
    assert "3 rows repeat match and player and t" in problem.text
    assert f"line {len(frame) + 2} of" in problem.text
    assert (problem.place.system, problem.place.object) == ("m0", "p1")


def test_a_table_without_a_time_is_refused_with_its_columns(tmp_path: Path):
    path = tmp_path / "odd.csv"
    pd.DataFrame({"a": ["u", "v", "u"], "b": [1.5, 2.5, 3.5]}).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"which column of .* is the time; it has a, b"):
        examine_table(path)


def test_facts_of_a_table_list_types_and_meanings(tmp_path: Path):
    path = tmp_path / "cases.csv"
    epidemic().to_csv(path, index=False)
    facts = table_facts(path)
    assert facts["rows"] == 800
    assert [(c["name"], c["type"], c["meaning"]) for c in facts["columns"]] == [
        ("date", "dates", "time"),
        ("state", "texts", "object"),
        ("confirmed", "numbers", "feature"),
        ("population", "numbers", "constant of objects"),
    ]
    assert facts["command"].startswith("pgode import table")


def test_parquet_is_examined_like_text(tmp_path: Path):
    pytest.importorskip("pyarrow")
    matches().to_parquet(tmp_path / "tracks.parquet")
    found = examine_table(tmp_path / "tracks.parquet")
    assert not found.has_problems and found.settings["preset"] == "default"
