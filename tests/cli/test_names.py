"""File, run and column names of any kind: commands show them as text, and never fail over them."""

import os
import shutil
from pathlib import Path

import pytest
from tests.trained_runs import data_file, springs, trained

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.trajectories import Trajectories

Captured = pytest.CaptureFixture[str]
NAMES = (
    "[/x]",
    "[bold]",
    ":bug:",
    "a\nb",
    "\x1b[31mred",
    os.fsdecode(b"x\xff"),
    "\u202ex",
    "%s {0}",
)


def shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)[1:-1]


def is_text(name: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in name)


def clean(text: str) -> bool:
    return not any(each in text for each in ("\x1b", "\u202e", "\udcff", "Traceback"))


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_files_and_runs_of_any_name_are_described(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained().folder, name)
    shutil.copyfile(data_file(), f"{name}.nc")
    for line in (
        ["info", name],
        ["info", f"{name}.nc"],
        ["forecast", name, f"{name}.nc", "-o", f"{name}.csv", "--samples", "0", "--until", "1"],
    ):
        # The library of the weights opens no path that is not UTF-8, and the command says so.
        expected = 2 if line[0] == "forecast" and not is_text(name) else 0
        assert run_command(line) == expected
        found = capsys.readouterr()
        assert shown(name) in (found.out if expected == 0 else found.err)
        assert clean(found.out + found.err)


@pytest.mark.parametrize("name", [*NAMES, "l" * 300], ids=lambda name: ascii(name)[:20])
@pytest.mark.parametrize(
    "line",
    [
        "info NAME.nc",
        "info NAME",
        "check NAME.csv",
        "train NAME.zarr -o new",
        "train DATA -o new --config NAME",
        "train DATA -o new --set NAME=1",
        "train DATA -o new --model NAME",
        "train --resume NAME",
        "evaluate NAME",
        "forecast springs-10 NAME.csv -o new.nc",
        "import table NAME.csv -o new.nc",
        "import mocap NAME -o new.nc --splits 1,0,0",
        "simulate NAME -o new.nc",
        "reproduce NAME",
        "convert NAME -o new",
    ],
)
def test_an_error_about_a_name_is_one_paragraph_that_shows_it(
    line: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [each.replace("NAME", name).replace("DATA", str(data_file())) for each in line.split()]
    assert run_command(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert clean(error)
    assert len(error) < 1500
    assert ("l" * 50 if name == "l" * 300 else shown(name)) in error
    assert list(tmp_path.iterdir()) == []


def test_tables_show_names_of_features_and_objects_as_text(
    tmp_path: Path, capsys: Captured
) -> None:
    names = ("[/x]", "[bold]b", "\u202ey", "n" * 300)
    data = springs()
    odd = Trajectories.build(
        data.states,
        data.times,
        edges=data.edges,
        features=names,
        split=data.split,
        object_names=[names[:3]] * data.systems,
    )
    files.write(odd, tmp_path / "odd.nc")
    for command in ("info", "check"):
        assert run_command([command, str(tmp_path / "odd.nc")]) in (0, 1)
        found = capsys.readouterr()
        assert "[/x]" in found.out
        assert "n" * 101 not in found.out
        assert clean(found.out + found.err)
