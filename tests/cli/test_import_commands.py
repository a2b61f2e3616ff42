"""`pgode import table` and `pgode import wide`: what they write and what they print."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pgode
from pgode.cli.app import run_command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tracks of two matches, and an adjacency of three sensors."""
    monkeypatch.chdir(tmp_path)
    rows = [
        (match, player, 0.5 * t, t + k, -t)
        for match in ("cup", "final")
        for k, player in enumerate(("Ann", "Bea", "Cai"))
        for t in range(40)
    ]
    table = pd.DataFrame(rows, columns=["match", "player", "t", "x", "y"])
    table.drop(index=[17]).to_csv("tracks.csv", index=False)
    wide = pd.DataFrame(np.ones((30, 3)), columns=["s1", "s2", "s3"])
    wide.insert(0, "time", pd.date_range("2012-03-01", periods=30, freq="h"))
    wide.to_csv("series.csv", index=False)
    Path("adj.csv").write_text(",s1,s2,s3\ns1,0,1,0\ns2,0,0,0.5\ns3,0,0,0\n")
    return tmp_path


def test_table_is_written_and_described(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "import table tracks.csv -o new/tracks.nc --system match --object player --time t "
        "--features x,y --units x:m,y:m --time-units s --edges radius:3 --velocities --window 5 "
        "--stride 2 --split-time 0.5,0.25,0.25 --gap 1"
    )
    assert run_command(command.split()) == 0
    printed = capsys.readouterr().out
    data = pgode.read("new/tracks.nc")
    for line in (
        "wrote new/tracks.nc",
        f"{data.systems} (16 train, 6 val, 6 test)",
        "3 per system",
        "5 per system",
        "0.5 s",
        "x (position, m), y (position, m), vx (velocity, m/s), vy (velocity, m/s)",
        "radius:3, rebuilt every frame",
        "pgode train new/tracks.nc -o runs/tracks",
        data.hash[:12],
    ):
        assert line in printed
    assert data.system_label(0) == "cup [train 1]" and data.object_label(0, 2) == "Cai"
    assert data.graph_rule == (3.0, 0.5)


def test_number_of_frames_of_velocities_is_optional(folder: Path) -> None:
    command = "import table tracks.csv -o {} --system match --object player --features x,y"
    for name, option in (("three.nc", "--velocities"), ("five.nc", "--velocities 5")):
        assert run_command([*command.format(name).split(), *option.split()]) == 0
    settings = [
        pgode.read(name).summary()["generator_settings"]["velocities"]
        for name in ("three.nc", "five.nc")
    ]
    assert settings == [3, 5]


def test_command_and_function_give_the_same_data(folder: Path) -> None:
    command = "import table tracks.csv -o tracks.zarr --system match --object player --features x,y"
    assert run_command(command.split()) == 0
    data = pgode.from_table("tracks.csv", system="match", object="player", features=["x", "y"])
    assert pgode.read("tracks.zarr").hash == data.hash


def test_wide_table_with_its_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "import wide series.csv -o series.nc --adjacency adj.csv --feature speed --known hour"
    assert run_command(command.split()) == 0
    printed = capsys.readouterr().out
    assert "act both ways" in printed and "1 hours" in printed and "hour=00" in printed
    data = pgode.read("series.nc")
    assert data.features == ("speed",) and data.edges.edge_graph.max() == 2
    assert sorted(data.edges.edge_attributes[:4, 0].tolist()) == [0.5, 0.5, 1, 1]
    assert run_command([*command.split(), "--edges", "all"]) == 2
    assert "Expected one of them" in capsys.readouterr().err


def test_table_given_as_data_says_how_to_import_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["train", "tracks.csv", "-o", "run"]) == 2
    assert "pgode import table tracks.csv -o tracks.nc" in capsys.readouterr().err
