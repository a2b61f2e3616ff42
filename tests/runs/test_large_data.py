"""Data that are larger than memory give the runs, scores and forecasts of data that are not."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests import law_runs
from tests.data.large.large_files import both, rich, stay_in_file
from tests.trained_runs import OPTIONS, data_file, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.checkup.checkup import examine
from pgode.data.trajectories import Trajectories
from pgode.evaluation import predict
from pgode.evaluation.predictions import fewer, memory_needed
from pgode.models import build_model, model_config
from pgode.models.naive.past_windows import PastWindows
from pgode.runs.run import Run
from pgode.runs.training import resume, train
from pgode.runtime.errors import InputError
from pgode.training.config import run_config

SAME = ("normaliser.json", "calibration.json", "config.json")


def same_runs(one: Path, other: Path) -> None:
    """Two folders with the same settings, scales and weights, bit for bit."""
    for name in SAME:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    weights = [load_file(each / "checkpoints" / "best.safetensors") for each in (one, other)]
    assert weights[0].keys() == weights[1].keys()
    for name, value in weights[0].items():
        assert torch.equal(value, weights[1][name]), name


def command(*words: object) -> int:
    return run_command([str(word) for word in words])


@pytest.fixture
def stored(monkeypatch) -> Trajectories:
    stay_in_file(monkeypatch)
    return files.read(data_file())


def test_commands_give_the_same_files(tmp_path, monkeypatch, capsys):
    expected = trained()
    found = {}
    for name in ("memory", "file"):
        if name == "file":
            stay_in_file(monkeypatch)
            assert command("train", data_file(), "-o", tmp_path / "run", *OPTIONS) == 0
            assert "window by window" in capsys.readouterr().err
            same_runs(tmp_path / "run", expected.folder)
        forecast = tmp_path / f"{name}.nc"
        scored = tmp_path / f"{name}.json"
        assert command("evaluate", expected.folder, "--json", scored) == 0
        scores = json.loads(scored.read_text())
        assert command("forecast", expected.folder, data_file(), "-o", forecast) == 0
        capsys.readouterr()
        assert command("info", data_file(), "--json") == 0
        info = capsys.readouterr().out
        assert command("check", data_file(), "--json") in (0, 1)
        checked = json.loads(capsys.readouterr().out)
        scores = {key: value for key, value in scores.items() if "second" not in key}
        found[name] = scores, info, checked["findings"], checked["naive"], forecast.read_bytes()
    assert found["memory"] == found["file"]


def test_force_laws_are_those_found_in_memory(tmp_path, monkeypatch):
    expected = law_runs.run_with_laws()
    stay_in_file(monkeypatch)
    data = files.read(Path(expected.data.source))
    assert data.is_stored
    config = run_config(changes=law_runs.SETTINGS)
    run = train(data, tmp_path / "run", config, source=expected.data.source)
    same_runs(run.folder, expected.folder)


def test_a_run_goes_on_with_data_that_stay_in_their_file(stored):
    assert resume(trained().folder, stored).data.hash == springs().hash


@pytest.mark.parametrize("make", [springs, rich])
def test_the_regression_on_the_past_is_the_same(tmp_path, monkeypatch, make):
    weights = []
    for data in both(make(), tmp_path / "data.nc", monkeypatch):
        training = data.split_of("train")
        windows = Windows(training, Normaliser.fit(training), 4, 2)
        past = PastWindows(windows, 3, 2)
        settled, _ = model_config("linear-past", {}).settled(windows, 0)
        model = build_model("linear-past", settled, windows.normaliser)
        model.prepare(windows, 0, lambda *_: None)
        tensors = {name: value.numpy() for name, value in model.state_dict().items()}
        weights.append((past.groups, past.gaps, tensors))
    (groups, gaps, one), (same_groups, same_gaps, other) = weights
    assert groups == same_groups and gaps == same_gaps
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value)


def test_forecasts_and_scores_that_do_not_fit_are_refused_with_a_way_out(stored, monkeypatch):
    run = trained()
    monkeypatch.setenv("PGODE_MEMORY", "100kB")
    with pytest.raises(InputError, match=r"with 20 samples needs about .* \(--split\)"):
        run.forecast(stored, until=20)
    monkeypatch.setenv("PGODE_MEMORY", "50kB")
    with pytest.raises(
        InputError, match=r"scoring 4 windows of 6 frames .*needs about .* \(--origins"
    ):
        run.evaluate(stored, splits="test", samples=200)


def test_calibration_takes_fewer_windows_where_memory_is_short(stored, monkeypatch):
    windows = Windows(stored.split_of("val"), trained().normaliser, 6, 6)
    origins = windows.origins(rolling=True)
    assert len(fewer(windows, origins, 8)) == len(origins)
    monkeypatch.setenv("PGODE_MEMORY", "100kB")
    kept = fewer(windows, origins, 8)
    assert 0 < len(kept) < len(origins)
    assert memory_needed(windows, kept, 8) <= 100_000 / 4 * 2
    assert predict(trained().model, windows, 1, origins=kept).windows == len(kept)


def test_check_examines_what_fits_and_says_so(stored, monkeypatch):
    monkeypatch.setenv("PGODE_MEMORY", "400kB")
    found = examine(stored, "springs.nc")
    part = found.contents["examined"]
    assert "5 of 19 systems" in part and "larger than memory" in part
    assert "size" not in [finding.check for finding in found.findings]
    monkeypatch.setenv("PGODE_MEMORY", "80kB")
    part = examine(stored, "springs.nc").contents["examined"]
    assert "4 of 19 systems" in part and "of 18 frames" in part


def test_a_report_of_stored_data_is_written(tmp_path, monkeypatch, capsys):
    stay_in_file(monkeypatch)
    page = tmp_path / "report.html"
    assert command("report", trained().folder, "-o", page) == 0
    assert page.stat().st_size > 10_000
    assert Run.open(trained().folder).data.hash == springs().hash
