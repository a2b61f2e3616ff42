"""A run folder is enough to continue, evaluate, forecast and share a model."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.data.test_molecules import molecule, motion
from tests.evaluation.uncertainty.test_noise_floor import replicas
from tests.small_systems import uneven
from tests.trained_runs import (
    CONDITION,
    HORIZON,
    OBJECTS,
    data_file,
    settings,
    springs,
    trained,
    trained_in,
)

from pgode.data.molecules import Preparation, prepare
from pgode.data.simulate import simulate
from pgode.runs.data_record import DataRecord
from pgode.runs.folder import read_data, read_noise_floor, source_of, summary
from pgode.runs.run import Run
from pgode.runs.stored.verification import accept_run
from pgode.runs.training import resume, train
from pgode.runtime.errors import InputError, SolverError
from pgode.training.config import run_config

FILES = {
    "calibration.json",
    "checkpoints/best.safetensors",
    "checkpoints/last.safetensors",
    "config.json",
    "data.json",
    "manifest.json",
    "metrics.csv",
    "metrics.jsonl",
    "normaliser.json",
}


def test_a_run_holds_these_files() -> None:
    folder = trained().folder
    found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert {name for name in found if not name.startswith(("tensorboard", "."))} == FILES
    config = json.loads((folder / "config.json").read_text())
    frames = {"condition": CONDITION, "horizon": HORIZON}
    assert config["window"] == {**frames, "starts": "random", "stride": 1}
    assert config["model"]["solver"]["method"] == "rk4"
    data = json.loads((folder / "data.json").read_text())
    assert data["hash"] == springs().hash
    assert data["systems"] == {"ood": 3, "test": 4, "train": 8, "val": 4}
    assert data["source"] == str(data_file())
    record = read_data(folder)
    assert record == trained().data == DataRecord.of(springs(), str(data_file()), trained().folder)
    assert record.to_json() == data


def test_a_run_that_moved_forecasts_the_same(tmp_path: Path) -> None:
    shutil.copytree(trained().folder, tmp_path / "copy")
    expected = trained().forecast(springs(), samples=4)
    found = Run.open(tmp_path / "copy").forecast(springs(), samples=4)
    np.testing.assert_array_equal(found.mean, expected.mean)
    np.testing.assert_array_equal(found.samples, expected.samples)


def test_forecasts_use_the_best_weights_and_a_share_needs_no_checkpoints(tmp_path: Path) -> None:
    shutil.copytree(trained().folder, tmp_path / "copy")
    checkpoints = tmp_path / "copy" / "checkpoints"
    (checkpoints / "last.safetensors").unlink()
    best = Run.open(tmp_path / "copy").forecast(springs(), samples=0).mean
    (checkpoints / "best.safetensors").rename(tmp_path / "copy" / "model.safetensors")
    checkpoints.rmdir()
    accept_run(tmp_path / "copy")
    shared = Run.open(tmp_path / "copy").forecast(springs(), samples=0).mean
    np.testing.assert_array_equal(best, trained().forecast(springs(), samples=0).mean)
    np.testing.assert_array_equal(shared, best)


def test_a_shipped_model_is_opened_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(trained().folder, tmp_path / "tiny-3")
    monkeypatch.setattr("pgode.runs.folder.PRETRAINED", tmp_path)
    assert Run.open("tiny-3").config == trained().config
    with pytest.raises(InputError, match="a model that comes with pgode: tiny-3"):
        Run.open("tiny-4")


def test_a_run_without_calibration_draws_from_its_posterior(tmp_path: Path) -> None:
    shutil.copytree(trained().folder, tmp_path / "copy")
    (tmp_path / "copy/calibration.json").unlink()
    with pytest.raises(InputError, match=r"calibration\.json is missing"):
        Run.open(tmp_path / "copy")
    accept_run(tmp_path / "copy")
    run = Run.open(tmp_path / "copy")
    assert run.calibration is None
    result = run.evaluate(springs(), splits=["test"])
    expected = trained().evaluate(springs(), splits=["test"])
    assert result.mse == expected.mse
    assert result.score("crps") != expected.score("crps")


@pytest.mark.parametrize("name", ["last-value", "constant-velocity"])
def test_naive_models_are_runs_too(name: str, tmp_path: Path) -> None:
    config = run_config(name, changes={"window.condition": CONDITION, "window.horizon": HORIZON})
    run = train(springs(), tmp_path / "run", config)
    assert run.calibration is not None
    assert run.epochs == []
    result = run.evaluate(springs())
    assert result.mse == result.naive_mse(name)
    assert result.model == name
    always = {"last-value", "constant-velocity", "mean-value", "damped-trend", "linear-past"}
    assert set(result.curves) == always
    validation = run.evaluate(springs(), splits=["val"])
    for level, share in ((50, 0.5), (90, 0.9)):
        coverage = validation.score(f"coverage_{level}").at("val", HORIZON, "q")
        assert coverage == pytest.approx(share, abs=0.15)


def test_splits_and_horizons_are_the_held_out_ones_and_the_trained_one_unless_named() -> None:
    run, data = trained(), springs()
    default = run.evaluate(data, samples=0)
    assert (default.splits, default.horizons) == (("test", "ood"), (HORIZON,))
    assert run.evaluate(data.split_of("val"), samples=0).splits == ("val",)
    chosen = run.evaluate(data, splits=["train", "ood"], horizons=[3, 12], samples=0)
    assert chosen.splits == ("train", "ood")
    assert chosen.mse.horizons == chosen.horizons == (3, 12)


def test_systems_of_other_sizes_than_the_trained_ones_can_be_scored() -> None:
    other = simulate(
        "springs", objects=OBJECTS + 2, frames=14, seed=4, train=0, val=0, test=2, ood=0
    )
    result = trained().evaluate(other)
    assert result.training is not None and result.energy_drift is not None
    assert result.data_hash != result.training.data_hash
    assert result.energy_drift["test"]["truth"] < 0.01


def test_data_without_validation_systems_is_validated_on_the_training_ones(tmp_path: Path) -> None:
    data = springs().split_of("train")
    run = train(data, tmp_path / "run", settings(training_epochs=1))
    assert run.epochs[0]["val_mse"] > 0
    assert run.calibration is not None
    assert run.evaluate(data, samples=2).splits == ("train",)


def test_uneven_systems_are_trained_evaluated_and_forecast(tmp_path: Path) -> None:
    """Other sizes, lengths and clocks, gaps, changing graphs, unknown parameters: end to end."""
    data = uneven()
    config = settings(window_condition=4, window_horizon=4, training_epochs=1)
    run = train(data, tmp_path / "run", config)
    result = run.evaluate(data, splits=["train", "test"], horizons=[2, 4])
    json.dumps(result.to_json(), allow_nan=False)
    assert (result.mse.at("train", 4, "q") or 0) > 0
    forecast = run.forecast(data, until=7)
    assert np.isfinite(forecast.mean[data.present]).all()
    assert np.isfinite(np.moveaxis(forecast.samples, 0, 2)[data.present]).all()


@pytest.mark.parametrize(
    "changes, error, words",
    [
        ({"model.solver.method": "rk5"}, InputError, 'Did you mean "rk4"'),
        ({"model.solver.max_evaluations": 1}, SolverError, "evaluations"),
        ({"window.condition": 18}, InputError, "after the condition of 18"),
        ({"window.condition": 19}, InputError, "fewer than the condition of 19"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_written(
    changes: dict[str, object], error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        train(
            springs(),
            tmp_path / "run",
            run_config(preset="messages", changes={"model.width": 8, **changes}),
        )
    assert list(tmp_path.iterdir()) == []


def test_validation_systems_that_are_too_short_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    dataset = springs().dataset.copy(deep=True)
    short = (dataset["split"] == "val").values
    dataset["times"][short, CONDITION:] = np.nan
    data = type(springs()).from_dataset(dataset)
    with pytest.raises(InputError, match="no system of the split val has a frame after"):
        train(data, tmp_path / "run", settings())
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_not_overwritten_and_resumes_with_its_own_data_only(tmp_path: Path) -> None:
    shutil.copytree(trained().folder, tmp_path / "run")
    with pytest.raises(InputError, match="holds a run already"):
        trained_in(tmp_path / "run", settings())
    with pytest.raises(InputError, match=r"is not what .* was trained on"):
        resume(tmp_path / "run", springs().split_of("train"))


def test_an_evaluation_with_replicas_keeps_the_noise_floor_for_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = prepare(motion(), np.arange(5) * 0.2, molecule(), Preparation(align="raw"), {})
    config = run_config("mean-value", changes={"window.condition": 2, "window.horizon": 3})
    run = train(data, tmp_path / "run", config)
    assert run.evaluate(data).noise_floor is None
    assert read_noise_floor(run.folder) is None
    floor = run.evaluate(data, replicas=replicas()).noise_floor
    assert floor is not None and floor.share is not None
    assert (floor.mse.splits, floor.mse.horizons) == (("test", "ood"), (3,))
    assert read_noise_floor(run.folder) == floor
    (run.folder / "noise_floor.json").unlink()
    monkeypatch.setattr("pgode.runs.folder.PRETRAINED", tmp_path)
    assert run.evaluate(data, replicas=replicas()).noise_floor == floor
    assert read_noise_floor(run.folder) is None, "written into the package"


def test_the_source_of_a_run_is_the_file_it_was_trained_on(tmp_path: Path) -> None:
    assert source_of(trained().folder) == data_file()
    shutil.copytree(trained().folder, tmp_path / "run")
    described = json.loads((tmp_path / "run/data.json").read_text())
    (tmp_path / "run/data.json").write_text(json.dumps({**described, "source": ""}))
    accept_run(tmp_path / "run")
    with pytest.raises(InputError, match="was trained on data without a file"):
        source_of(tmp_path / "run")


def test_a_summary_says_what_the_run_is() -> None:
    rows = summary(trained().folder)
    assert rows["model"] == "pgode (preset messages)"
    assert rows["condition, horizon"] == "6, 6 frames"
    assert rows["systems"] == "3 ood, 4 test, 8 train, 4 val"
    assert rows["trained"] == "3 of 3 epochs"
    assert rows["calibrated"] == "yes"
    assert springs().hash[:12] in rows["data"]
