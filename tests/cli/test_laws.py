"""`pgode laws`: what it prints and writes, and what it refuses."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from tests.law_runs import SETTINGS, run_with_laws, springs
from tests.models.pgode.laws.small_laws import random_walks, trajectories

from pgode.cli.app import run_command
from pgode.runs.training import train
from pgode.training.config import run_config

Captured = pytest.CaptureFixture[str]
HOOKE = re.compile(r"attraction, \((-0\.\d+) ± (0\.\d+)\) r\^\((\d\.\d+) ± (0\.\d+)\), seen from ")


@pytest.fixture
def run() -> str:
    return str(run_with_laws().folder)


def test_the_law_is_printed_in_one_line_then_in_a_table(run: str, capsys: Captured) -> None:
    assert run_command(["laws", run]) == 0
    printed = capsys.readouterr().out
    found = HOOKE.search(printed.splitlines()[0])
    assert found is not None
    strength, _, exponent, _ = map(float, found.groups())
    assert strength == pytest.approx(-0.1, rel=0.1)
    assert exponent == pytest.approx(1, abs=0.01)
    for words in ("Force laws", "closed form", "deviation", "walls: none", "shares 100%"):
        assert words in printed
    assert "hidden kinds" not in printed


def test_json_has_the_same(run: str, capsys: Captured) -> None:
    assert run_command(["laws", run, "--json"]) == 0
    result = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    (law,) = result["laws"]
    assert (law["kind"], law["form"]["name"], law["form"]["fits"]) == ("attraction", "power", True)
    assert law["form"]["parameters"]["b"]["value"] == pytest.approx(1, abs=0.01)
    assert law["form"]["parameters"]["b"]["error"] > 0
    assert result["adjusted_rand_index"] is None


def test_the_table_and_the_picture_are_written(run: str, tmp_path: Path, capsys: Captured) -> None:
    table, picture = tmp_path / "new" / "laws.csv", tmp_path / "laws.svg"
    assert run_command(["laws", run, "--csv", str(table), "--svg", str(picture)]) == 0
    assert f"wrote {table}" in capsys.readouterr().out.replace("\n", " ")
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 200
    assert list(rows[0]) == [
        *("receiver", "sender", "distance", "force", "deviation", "closed_form", "seen")
    ]
    distance, force, form = (
        np.array([float(row[name]) for row in rows])
        for name in ("distance", "force", "closed_form")
    )
    seen = np.array([row["seen"] == "1" for row in rows])
    assert 0 < seen.sum() < 200
    np.testing.assert_allclose(force[seen], form[seen], rtol=0.02)
    np.testing.assert_allclose(force[seen], -0.1 * distance[seen], rtol=0.1)
    root = ElementTree.fromstring(picture.read_text())
    classes = [each.get("class") for each in root.iter()]
    assert {"range", "band", "line own", "line form"} <= set(classes)
    assert "Prototype 0 on itself" in [each.text for each in root.iter()]


def test_the_same_run_gives_the_same_files(run: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert run_command(["laws", run, "--svg", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_forecast_says_how_long_it_can_be_trusted(
    run: str, tmp_path: Path, capsys: Captured
) -> None:
    data, out = run_with_laws().folder.parent / "springs.nc", tmp_path / "f.nc"
    assert run_command(["forecast", run, str(data), "-o", str(out), "--until", "3"]) == 0
    assert "22 of 22 systems can be trusted to the end" in capsys.readouterr().out


def test_a_run_without_laws_is_refused(tmp_path: Path, capsys: Captured) -> None:
    train(springs(), tmp_path / "still", run_config("last-value"), calibrated=False)
    assert run_command(["laws", str(tmp_path / "still"), "--csv", str(tmp_path / "c.csv")]) == 2
    error = capsys.readouterr().err
    for words in (
        "still has no force laws",
        "last-value",
        "Expected a run with",
        "pgode train DATA",
    ):
        assert words in error
    assert not (tmp_path / "c.csv").exists()


def test_message_prototypes_are_no_laws(tmp_path: Path, capsys: Captured) -> None:
    small = {"model.width": 8, "training.epochs": 1, "window.condition": 6, "window.horizon": 6}
    config = run_config("pgode", "messages", changes=small)
    train(springs(), tmp_path / "run", config, calibrated=False)
    assert run_command(["laws", str(tmp_path / "run")]) == 2
    assert "has message prototypes. Expected a run with" in capsys.readouterr().err


def test_laws_beside_message_prototypes_are_printed(tmp_path: Path, capsys: Captured) -> None:
    changes = {**SETTINGS, "model.dynamics.messages": True, "model.width": 8, "training.epochs": 1}
    train(springs(), tmp_path / "run", run_config(changes=changes), calibrated=False)
    assert run_command(["laws", str(tmp_path / "run")]) == 0
    printed = capsys.readouterr().out
    assert HOOKE.search(printed.splitlines()[0])
    assert "message prototypes change velocities once per frame" in printed


def test_a_run_in_which_no_law_was_found(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "run"
    split = np.array(["train"] * 6 + ["val", "test"])
    data = trajectories(random_walks(), split=split)
    changes = {**SETTINGS, "model.dynamics.messages": False}
    train(data, folder, run_config(changes=changes), calibrated=False)
    picture = tmp_path / "laws.svg"
    assert run_command(["laws", str(folder)]) == 0
    assert "laws: none" in capsys.readouterr().out
    assert run_command(["laws", str(folder), "--svg", str(picture)]) == 2
    assert "has no laws, because free motion" in capsys.readouterr().err
    assert not picture.exists()
    assert run_command(["laws", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["laws"] == []


def test_a_missing_run_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert run_command(["laws", str(tmp_path / "gone")]) == 2
    assert (
        "gone does not exist. Expected a folder that pgode train wrote" in capsys.readouterr().err
    )


@pytest.mark.parametrize("option", ["--csv", "--svg"])
def test_a_folder_is_not_overwritten(
    option: str, run: str, tmp_path: Path, capsys: Captured
) -> None:
    assert run_command(["laws", run, option, str(tmp_path)]) == 2
    assert "a folder of that name is in the way" in capsys.readouterr().err


def test_neither_the_data_nor_the_other_output_is_overwritten(
    run: str, tmp_path: Path, capsys: Captured
) -> None:
    data = run_with_laws().folder.parent / "springs.nc"
    before = data.read_bytes()
    assert run_command(["laws", run, "--csv", str(data)]) == 2
    assert "it is what the command reads" in capsys.readouterr().err
    assert data.read_bytes() == before
    both = str(tmp_path / "laws")
    assert run_command(["laws", run, "--csv", both, "--svg", both]) == 2
    assert "two outputs cannot both be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
