"""Each command does its work, says what it wrote, and exits with 0."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.trained_runs import HORIZON, OPTIONS, data_file, springs, trained

from pgode.cli.app import run_command
from pgode.cli.parsing import numbers, whole_numbers
from pgode.cli.simulate import SYSTEM_NAMES
from pgode.data import files
from pgode.data.simulate import SYSTEMS
from pgode.runs.run import Run
from pgode.runtime.errors import InputError

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    shutil.copytree(trained().folder, tmp_path / "run")
    return tmp_path / "run"


def said(capsys: Captured) -> str:
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("ending", [".nc", ".zarr"])
def test_simulate_writes_what_the_library_simulates(
    ending: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "new" / f"springs{ending}"
    options = "--objects 3 --frames 18 --seed 1 --train 8 --val 4 --test 4 --ood 3"
    assert run_command(["simulate", "springs", "-o", str(path), *options.split()]) == 0
    assert files.read(path).hash == springs().hash
    assert f"wrote {path}: 19 systems of 3 objects, 18 frames, hash" in said(capsys)


def test_train_gives_the_run_that_the_library_gives(tmp_path: Path, capsys: Captured) -> None:
    folder = tmp_path / "new" / "run"
    assert run_command(["train", str(data_file()), "-o", str(folder), *OPTIONS]) == 0
    captured = capsys.readouterr()
    assert f"Trained {folder}. Next: pgode evaluate {folder}" in captured.out
    assert captured.err.count("epoch ") == 3
    found = [row["val_mse"] for row in Run.open(folder).epochs]
    assert found == [row["val_mse"] for row in trained().epochs]


def test_options_for_common_settings_win_over_set(tmp_path: Path) -> None:
    options = "--model last-value --horizon 4 --epochs 7 --seed 9 --threads 1"
    folder = tmp_path / "run"
    start = ["train", str(data_file()), "-o", str(folder), *options.split()]
    assert run_command([*start, "--set", "training.seed=3", "--set", "training.batch=3"]) == 0
    config = Run.open(folder).config
    assert (config.window.horizon, config.training.epochs) == (4, 7)
    assert (config.training.seed, config.training.batch) == (9, 3)


def test_evaluate_prints_a_table_and_writes_json(
    run: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "new" / "out.json"
    options = "--split test --split val --horizons 6,3 --samples 5 --seed 2"
    assert run_command(["evaluate", str(run), *options.split(), "--json", str(out)]) == 0
    printed = said(capsys)
    for part in ("pgode", "last value", "constant velocity", "skill", "test", "val", "wrote"):
        assert part in printed
    result = json.loads(out.read_text(), parse_constant=pytest.fail)
    expected = trained().evaluate(
        springs(), splits=["test", "val"], horizons=[3, 6], samples=5, seed=2
    )
    assert {**result, "seconds": 0} == {**expected.to_json(), "seconds": 0}


def test_evaluate_takes_other_data(run: Path, tmp_path: Path) -> None:
    files.write(springs().split_of("val"), tmp_path / "val.nc")
    out = tmp_path / "out.json"
    words = ["--data", str(tmp_path / "val.nc"), "--samples", "0", "--json", str(out)]
    assert run_command(["evaluate", str(run), *words]) == 0
    assert list(json.loads(out.read_text())["scores"]["mse"]) == ["val"]


@pytest.mark.parametrize(
    "words, frames",
    [([], HORIZON), (["--until", "3"], 3), (["--times", "0.05,0.7"], 2)],
)
def test_forecast_writes_a_file(
    words: list[str], frames: int, run: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "f.nc"
    given = ["forecast", str(run), str(data_file()), "-o", str(out), "--samples", "4", *words]
    assert run_command(given) == 0
    size = f"{out.stat().st_size / 1000:.3g} kB"
    assert f"wrote {out}: 19 systems, {frames} times each, 4 samples, {size}" in said(capsys)
    with xr.open_dataset(out) as opened:
        assert dict(opened["samples"].sizes) == {
            "sample": 4,
            "system": 19,
            "object": 3,
            "time": frames,
            "feature": 4,
        }


def test_samples_are_written_only_if_asked_for_and_the_interval_always(
    run: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "f.nc"
    given = ["forecast", str(run), str(data_file()), "-o", str(out), "--seed", "2"]
    assert run_command([*given, "--split", "test", "--split", "ood"]) == 0
    assert "7 systems, 6 times each, mean and 90 % interval, " in said(capsys)
    expected = trained().forecast(
        springs().select(np.isin(springs().split, ["test", "ood"])), seed=2
    )
    with xr.open_dataset(out) as opened:
        assert "samples" not in opened
        assert set(opened["split"].values) == {"test", "ood"}
        for name in ("mean", "lower", "upper"):
            np.testing.assert_array_equal(opened[name], expected.dataset[name])
    assert run_command([*given, "--samples", "0", "--overwrite"]) == 0
    assert "mean alone" in said(capsys)


def test_report_writes_one_page(run: Path, capsys: Captured) -> None:
    assert run_command(["report", str(run), "--examples", "1", "--samples", "4"]) == 0
    page = run / "report.html"
    assert f"wrote {page.resolve()}" in said(capsys)
    assert "<html" in page.read_text()[:300]


def test_the_report_of_a_shipped_model_is_written_here(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.runs.folder.PRETRAINED", tmp_path)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert run_command(["report", "run", "--examples", "0", "--samples", "0"]) == 0
    assert (here / "run.html").is_file()
    assert not (run / "report.html").exists()


def test_info_says_what_is_in_data_and_runs(run: Path, capsys: Captured) -> None:
    assert run_command(["info", str(data_file())]) == 0
    printed = said(capsys)
    assert "Springs, 3 objects" in printed
    assert run_command(["info", str(run)]) == 0
    printed = said(capsys)
    assert "pgode (preset messages)" in printed
    assert "3 of 3 epochs" in printed


def test_an_interrupted_command_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def interrupt(path: object, force: bool = False) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "read", interrupt)
    assert run_command(["info", "data.nc"]) == 130
    assert capsys.readouterr().err.startswith("Stopped: nothing was written")


def test_lists_are_parsed_from_one_argument() -> None:
    assert whole_numbers("36,12,12,24", "--horizons") == [12, 24, 36]
    assert numbers("0.5, 1e1,-2", "--times") == [0.5, 10.0, -2.0]


@pytest.mark.parametrize("text", ["", "a", "1.5", "1,", "0", "-1,3"])
def test_what_is_no_list_of_whole_numbers_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Expected, for instance, --horizons 12,24,36"):
        whole_numbers(text, "--horizons")


@pytest.mark.parametrize("text", ["", "soon", "1,,2"])
def test_what_is_no_list_of_numbers_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"Expected, for instance, --times 0.5,1.0"):
        numbers(text, "--times")


def test_help_names_every_system() -> None:
    assert tuple(SYSTEMS) == SYSTEM_NAMES
