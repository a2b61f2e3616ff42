"""`pgode robustness` measures runs, writes its page and numbers, and refuses invalid input."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.trained_runs import data_file, settings, springs, trained, trained_in

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.evaluation.robustness.result import Robustness
from pgode.runs.robustness import measure_robustness

Captured = pytest.CaptureFixture[str]

QUICK = ["--magnitudes", "0.01,0.1", "--horizon", "4", "--draws", "1"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with k2 (two prototypes), k1 (one) and still (last value)."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(trained().folder, folder / "k2")
    assert trained_in(folder / "k1", settings(model__dynamics__prototypes=1, training_epochs=1))
    options = ["--model", "last-value", "--set", "window.condition=6", "--horizon", "6"]
    assert run_command(["train", str(data_file()), "-o", str(folder / "still"), *options]) == 0
    return folder


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_runs_are_measured_printed_drawn_and_written(
    runs: Path, tmp_path: Path, capsys: Captured
) -> None:
    page, numbers = tmp_path / "new" / "page.html", tmp_path / "out.json"
    folders = [str(runs / name) for name in ("k1", "k2", "still")]
    outputs = ["-o", str(page), "--json", str(numbers)]
    assert run_command(["robustness", *folders, *QUICK, "--seed", "3", *outputs]) == 0
    printed = one_line(capsys.readouterr().out)
    for part in (
        *("k1 (K = 1)", "k2 (K = 2)", "still (last-value)", "rate", "theorem"),
        *("times as far as that of k1 (K = 1)", "Premise, L of every prototype"),
        *("still (last-value): the last observed frame was perturbed", "are omitted"),
    ):
        assert part in printed
    assert "k2 (K = 2)" in page.read_text()
    result = Robustness.from_json(json.loads(numbers.read_text(), parse_constant=pytest.fail))
    assert [run.name for run in result.runs] == ["k1", "k2", "still"]
    assert (result.systems, result.split, result.horizons) == (4, "test", (4,))
    perturbations = Perturbations(4, (0.01, 0.1), draws=1, seed=3)
    assert result == measure_robustness(folders, data_file(), perturbations=perturbations)
    np.testing.assert_allclose(result.runs[2].forecast[0].norm, 0.01)
    assert [pair.several for pair in result.comparisons] == ["k2"]


def test_a_seed_gives_the_same_numbers_and_another_does_not(runs: Path, tmp_path: Path) -> None:
    results = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        out = tmp_path / f"{name}.json"
        outputs = ["--json", str(out), "-o", str(tmp_path / f"{name}.html"), "--seed", str(seed)]
        assert run_command(["robustness", str(runs / "k2"), *QUICK, *outputs]) == 0
        results.append(json.loads(out.read_text())["runs"])
    assert results[0] == results[1] != results[2]


def test_observations_can_be_perturbed_for_every_model(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [str(runs / name) for name in ("k1", "k2")]
    options = ["--perturb", "observed", "--split", "ood", "--json", "out.json"]
    assert run_command(["robustness", *folders, *QUICK, *options]) == 0
    assert "wrote robustness.html" in capsys.readouterr().out
    result = Robustness.from_json(json.loads(Path("out.json").read_text()))
    assert result.systems == 3
    for run in result.runs:
        assert run.lipschitz is None and run.perturbed == "observation"
        assert run.forecast[1].norm[0] == pytest.approx(0.1)
    (pair,) = result.comparisons
    assert pair.displacement_ratio is not None and pair.displacement_ratio > 0


BAD = {
    "no run": ("", "no run was given"),
    "not a run": ("{runs}", "is not a run folder"),
    "missing run": ("{runs}/k2 {runs}/gone", "gone does not exist"),
    "run twice": ("{runs}/k2 {runs}/k1 {runs}/k2/", "was given twice"),
    "zero": ("{runs}/k2 --magnitudes 0.1,0", "magnitudes 0.1, 0. Expected finite numbers above 0"),
    "negative": ("{runs}/k2 --magnitudes -0.1", "Expected finite numbers above 0"),
    "no number": ("{runs}/k2 --magnitudes small", "--magnitudes 'small' is not a list"),
    "horizon": ("{runs}/k2 --horizon 0", "over 0 frames"),
    "draws": ("{runs}/k2 --draws 0", "0 draws"),
    "split": ("{runs}/k2 --split tset", 'no system is in the split "tset"'),
    "what": ("{runs}/k2 --perturb gate", "gate"),
    "features": ("{runs}/k2 --data renamed.nc", "(for the run {runs}/k2) has the features px"),
    "no data": ("{runs}/k2 --data gone.nc", "gone.nc"),
    "one file": ("{runs}/k2 --json page.html -o page.html", "Expected a file for each"),
    "folder": ("{runs}/k2 -o folder", "a folder of that name is in the way"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_input_gives_one_paragraph_and_writes_nothing(
    name: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    renamed = springs().dataset.assign_coords(feature=["px", "py", "vx", "vy"])
    files.write(Trajectories.from_dataset(renamed), "renamed.nc")
    Path("folder").mkdir()
    command, expected = (part.replace("{runs}", str(runs)) for part in BAD[name])
    assert run_command(["robustness", *command.split()]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Error: ") and expected in message and "Traceback" not in message
    assert len(message.strip().splitlines()) <= 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "renamed.nc"]
