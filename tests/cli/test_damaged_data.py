"""Data that differ from their stored hash: an error, and a warning with --force."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.plain_trajectories import build

from pgode.cli.app import app, run_command
from pgode.data import files
from pgode.data.files.table import from_table

READING = (
    *("train", "tune", "evaluate", "compare", "forecast", "export"),
    *("report", "laws", "info", "check", "robustness", "export-md"),
)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    path = tmp_path / "data.nc"
    files.write(build(), path)
    with h5py.File(path, "a") as file:
        file["states"][0, 0, 0, 0] += 1.0
    return path


@pytest.mark.parametrize("name", READING)
def test_every_command_that_reads_data_has_the_option(name: str) -> None:
    arguments = app[name].assemble_argument_collection(parse_docstring=True)
    found = [each for each in arguments if "--force" in each.names]
    assert len(found) == 1 and "hash" in str(found[0].parameter.help)


def test_changed_data_are_refused_and_described_by_force(
    changed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["info", str(changed)]) == 2
    error = capsys.readouterr().err
    assert "are not what was written" in error and "--force" in error
    assert run_command(["info", str(changed), "--force"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("Warning: ") and "are not what was written" in said.err
    assert "content hash" in said.out


def test_training_reads_changed_data_by_force_alone(
    changed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = ["train", str(changed), "-o", str(run), "--model", "gru", "--epochs", "1"]
    command += ["--set", "window.condition=2", "--horizon", "2", "--processes", "1"]
    assert run_command(command) == 2
    assert not run.exists()
    capsys.readouterr()
    assert run_command([*command, "--force"]) == 0
    assert capsys.readouterr().err.startswith("Warning: ")
    assert files.read_again(changed).hash != build().hash


@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "DATA", "-o", "RUN", "--config", "FIFO"],
        ["tune", "--list-space", "--preset", "messages", "--space", "FIFO"],
        ["info", "FIFO.csv"],
        ["check", "FIFO.parquet"],
        ["import", "table", "FIFO.csv", "-o", "OUT.nc"],
        ["import", "mocap", "FIFO.bvh", "-o", "OUT.nc", "--splits", "1,0,0"],
        ["data", "covid", "-o", "OUT.nc", "--source", "FIFO.csv"],
    ],
)
def test_a_fifo_is_refused_wherever_a_file_is_read(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files.write(build(), tmp_path / "DATA.nc")
    names = {"DATA": "DATA.nc"}
    given = []
    for word in arguments:
        if word.startswith("FIFO"):
            os.mkfifo(tmp_path / word)
        upper = word.split(".")[0] in ("DATA", "RUN", "FIFO", "OUT")
        given.append(str(tmp_path / names.get(word, word)) if upper else word)
    assert run_command(given) == 2
    assert "named pipe" in capsys.readouterr().err


def test_imported_data_have_both_hashes(tmp_path: Path) -> None:
    rows = [f"{k % 3},{k // 3},{k * 0.5}" for k in range(30)]
    (tmp_path / "table.csv").write_text("\n".join(["object,time,x", *rows]))
    files.write(from_table(tmp_path / "table.csv"), tmp_path / "table.nc")
    with h5py.File(tmp_path / "table.nc") as file:
        assert {"content_hash", "attribute_hash"} <= set(file.attrs)
        assert len(np.atleast_1d(file.attrs["attribute_hash"])) == 1
