"""Runs on another device: trained, stored, opened on the CPU, forecast and scored."""

from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from tests import law_runs
from tests.pretended_device import DEVICE, pretended_device
from tests.trained_runs import data_file, settings, springs, trained
from torch.testing import assert_close

import pgode
from pgode.batches.windows import Windows
from pgode.cli.app import run_command
from pgode.evaluation.robustness.measure import measure_model
from pgode.evaluation.robustness.perturbation import Perturbations
from pgode.runs.run import Run
from pgode.runs.training import resume, train
from pgode.runtime.errors import InputError
from pgode.training.display import Display


class Told(Display):
    """Keeps what training says."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def test_training_on_a_device_gives_the_numbers_of_the_cpu(tmp_path: Path) -> None:
    config, told = settings(training_epochs=1), Told()
    here = train(springs(), tmp_path / "cpu", config, device="cpu", display=told)
    with pretended_device():
        there = train(springs(), tmp_path / "device", config, device=DEVICE)
        assert {p.device for p in there.model.parameters()} == {DEVICE}
        forecast = there.forecast(springs().split_of("test"), samples=3)
        scores = there.evaluate(springs(), samples=3)
    assert told.sentences[-1] == "training on cpu"
    rows = [run.epochs[-1] for run in (here, there)]
    assert rows[1]["val_mse"] == pytest.approx(rows[0]["val_mse"], rel=1e-2)
    assert rows[1]["train"]["total"] == pytest.approx(rows[0]["train"]["total"], rel=1e-3)
    weights = Run.open(there.folder, "cpu").model.state_dict()
    for name, each in here.model.state_dict().items():
        assert_close(weights[name], each, rtol=1e-2, atol=1e-3)
    expected = here.forecast(springs().split_of("test"), samples=3)
    np.testing.assert_allclose(forecast.mean, expected.mean, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(forecast.samples, expected.samples, rtol=1e-2, atol=1e-2)
    assert scores.mse.row("test", 6) == pytest.approx(
        here.evaluate(springs(), samples=3).mse.row("test", 6), rel=1e-2
    )


def test_a_run_of_a_device_is_a_run_of_any(tmp_path: Path) -> None:
    with pretended_device():
        there = train(springs(), tmp_path / "run", settings(training_epochs=1), device=DEVICE)
        weights = {name: each.cpu() for name, each in there.model.state_dict().items()}
    text = (tmp_path / "run" / "config.json").read_text()
    assert "device" not in text and DEVICE.type not in text
    for name, each in Run.open(tmp_path / "run", "cpu").model.state_dict().items():
        assert_close(each, weights[name], rtol=0, atol=0)
    assert resume(tmp_path / "run", springs(), device="cpu").model.device.type == "cpu"


def test_force_laws_forecast_the_same_on_a_device() -> None:
    folder = law_runs.run_with_laws().folder
    data = law_runs.springs().split_of("test")
    expected = Run.open(folder, "cpu").forecast(data, samples=2, until=2)
    with pretended_device():
        run = Run.open(folder, DEVICE)
        assert run.model.device == DEVICE
        assert {each.device.type for each in run.model.state_dict().values()} == {"cpu"}
        forecast = run.forecast(data, samples=2, until=2)
    for name in ("mean", "samples", "gate", "system_substeps", "system_trusted"):
        np.testing.assert_allclose(
            forecast.dataset[name], expected.dataset[name], rtol=1e-6, atol=1e-8
        )


def test_the_flow_of_force_laws_is_the_same_on_a_device() -> None:
    run = law_runs.run_with_laws()
    windows = Windows(law_runs.springs().split_of("test"), run.normaliser, 6, 1)
    batch = next(windows.batches(1)).to(dtype=torch.float64)
    here = run.model.flow(batch)
    expected = (here.mixture(here.initial), here.solve(here.initial, batch.target_times))
    with pretended_device():
        there = run.model.flow(batch.to(DEVICE))
        times = batch.target_times.to(DEVICE)
        found = (there.mixture(there.initial), there.solve(there.initial, times))
        assert there.decode(found[1], times).device == there.weights.device == DEVICE
    for one, other in zip(found, expected, strict=True):
        assert_close(one.value, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("observed", [False, True])
def test_perturbations_grow_the_same_on_a_device(observed: bool) -> None:
    folder = trained().folder
    given = (springs().split_of("test"), 6, Perturbations(2, (0.01,), 1, 0, observed))
    expected = measure_model(Run.open(folder, "cpu").model, *given)
    with pretended_device():
        found = measure_model(Run.open(folder, DEVICE).model, *given)
    assert found.forecast[0].norm == pytest.approx(expected.forecast[0].norm, rel=1e-5)
    if expected.lipschitz is not None:
        assert found.lipschitz is not None
        assert found.lipschitz.mixture.mean == pytest.approx(
            expected.lipschitz.mixture.mean, rel=1e-5
        )


def test_double_precision_decides_where_laws_are_computed() -> None:
    laws, messages = law_runs.run_with_laws().model, trained().model
    assert laws.needs_doubles and not messages.needs_doubles
    assert laws.on(torch.device("mps")).device == torch.device("cpu")


@pytest.mark.parametrize(
    "command",
    [
        ("train", "DATA", "-o", "new"),
        ("train", "--resume", "RUN"),
        ("forecast", "RUN", "DATA", "-o", "f.nc"),
        ("evaluate", "RUN"),
        ("report", "RUN", "-o", "report.html"),
        ("compare", "RUN", "RUN"),
        ("robustness", "RUN"),
        ("reproduce", "table1", "-o", "reproduction"),
    ],
    ids=lambda command: "-".join(command[:2]).strip("-"),
)
@pytest.mark.parametrize("device", ["cuda:7", "gpu"])
def test_a_device_that_is_not_there_is_one_paragraph_and_leaves_nothing(
    command, device, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    names = {"RUN": str(trained().folder), "DATA": str(data_file())}
    assert run_command([*(names.get(word, word) for word in command), "--device", device]) == 2
    text = capsys.readouterr().err
    assert text.startswith("Error: ") and device in text and "cpu" in text
    assert text.count("\n") == 1 and not list(tmp_path.iterdir())


def test_the_python_interface_refuses_a_device_before_it_reads(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no device cuda:7"):
        pgode.train("there-is-no.nc", tmp_path / "run", device="cuda:7")
    with pytest.raises(InputError, match="no device cuda:7"):
        pgode.open_run(trained().folder, device="cuda:7")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("preset", ["default", "messages"])
def test_the_demo_runs_on_a_real_device(preset: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("--train", "16", "--val", "4", "--test", "4", "--ood", "0", "--frames", "24")
    assert run_command(["simulate", "springs", "-o", "springs.nc", *small]) == 0
    options = ("--preset", preset, "--horizon", "6", "--epochs", "2")
    assert run_command(["train", "springs.nc", "-o", "run", *options, "--device", "cuda"]) == 0
    assert "training on cuda:0" in capsys.readouterr().err
    for device in ("cuda", "cpu"):
        assert run_command(["evaluate", "run", "--device", device, "--json", f"{device}.json"]) == 0
        output = ("-o", f"{device}.nc", "--device", device, "--samples", "0")
        assert run_command(["forecast", "run", "springs.nc", "--split", "test", *output]) == 0
    there, here = (xr.load_dataset(f"{device}.nc", engine="h5netcdf") for device in ("cuda", "cpu"))
    np.testing.assert_allclose(there["mean"], here["mean"], rtol=1e-3, atol=1e-3)
    assert Path("cuda.json").stat().st_size > 0
