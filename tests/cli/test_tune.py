"""`pgode tune`: what it lists, and what it refuses."""

import sys
from pathlib import Path

import pytest
from tests.trained_runs import data_file

from pgode.cli.app import run_command


def test_the_space_of_every_preset_is_listed(capsys):
    assert run_command(["tune", "--list-space"]) == 0
    out = capsys.readouterr().out
    for words in ("preset default (force laws alone)", "preset messages", "preset molecules"):
        assert words in out
    assert "model.dynamics.third_law" in out and "0.0001 to 0.01, logarithmic" in out


def test_the_space_for_data_is_that_of_the_preset_they_choose(capsys):
    words = ["tune", str(data_file()), "--list-space"]
    assert run_command(words) == 0
    assert "preset default (force laws alone)" in capsys.readouterr().out
    assert run_command([*words, "--preset", "messages", "--set", "model.width=8"]) == 0
    out = capsys.readouterr().out
    assert "training.learning_rate" in out and "model.width" not in out  # it is fixed


@pytest.mark.parametrize(
    "options, words",
    [
        (["-o", "new"], ["needs a data file and a folder", "--list-space"]),
        (["DATA"], ["needs a data file and a folder"]),
        (["DATA", "-o", "new", "--trials", "0"], ["--trials is 0"]),
        (["DATA", "-o", "new", "--jobs", "0"], ["--jobs is 0"]),
        (["DATA", "-o", "new", "--engine", "slurm"], ["local, ray"]),
        (["DATA", "-o", "new", "--model", "gruu"], ['Did you mean "gru"']),
        (["DATA", "-o", "new", "--model", "last-value"], ["has no settings to search"]),
        (["DATA", "-o", "new", "--preset", "mesages"], ['Did you mean "messages"']),
        (["DATA", "-o", "new", "--horizon", "99"], ["cannot train to forecast 99 frames"]),
        (["DATA", "-o", "new", "--epochs", "0"], ["training.epochs", "greater than or equal to 1"]),
        (["DATA", "-o", "new", "--space", "gone.yaml"], ["cannot read the space gone.yaml"]),
        (["gone.nc", "-o", "new"], ["gone.nc: there is no such file"]),
        (
            ["DATA", "-o", "full", "--model", "gru"],
            ["cannot write full: the folder holds mine.txt", "begun"],
        ),
        (["DATA", "-o", "new", "--set", "model.widht=3"], ['Did you mean "model.width"']),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_bad_input_is_one_paragraph_and_writes_nothing(
    options, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/mine.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    given = [str(data_file()) if word == "DATA" else word for word in options]
    assert run_command(["tune", *given]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Error: ") and len(message.strip().splitlines()) == 1
    for each in words:
        assert each in message
    assert sorted(tmp_path.rglob("*")) == before


def test_without_optuna_the_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert run_command(["tune", str(data_file()), "-o", str(tmp_path / "new")]) == 2
    assert "pip install pgode[tune]" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
