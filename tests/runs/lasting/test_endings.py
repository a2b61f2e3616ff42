"""Forecasts over many frames: finite, or missing from a time on that is stored and said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from tests.trained_runs import springs, trained

from pgode.data.trajectories import Trajectories
from pgode.models import Forecaster, build_model, model_config
from pgode.runs.forecasts import Forecasts, forecast_future
from pgode.runs.lasting.endings import Endings, sentences
from pgode.runs.lasting.together import LONG, systems_at_once
from pgode.runs.run import Run
from pgode.runtime.errors import InputError

LONGER = 2000


@pytest.fixture(scope="module")
def tested() -> Trajectories:
    return springs().split_of("test")


def model(name: str, **settings: object) -> Forecaster:
    torch.manual_seed(0)
    built = build_model(name, model_config(name, dict(settings)), trained().normaliser)
    return built.eval()


def ahead(forecaster: Forecaster, data: Trajectories, frames: int, samples: int = 0) -> Forecasts:
    times = np.arange(1.0, frames + 1)
    return forecast_future(forecaster, data, 6, times, calibration=None, samples=samples, seed=0)


def diverging(run: Run) -> Forecaster:
    """The trained model with a latent derivative that grows with its square."""
    forecaster = build_model("node", model_config("node", {"width": 4}), run.normaliser).eval()
    with torch.no_grad():
        for each in forecaster.parameters():
            each.mul_(40.0)
    return forecaster


def test_values_after_the_first_that_is_not_finite_are_missing_in_all_of_the_system() -> None:
    frames = np.array([1.0, 2.0, 3.0, 4.0])
    endings = Endings.none(frames, 3)
    mean = np.zeros((5, 4, 2))
    mean[1, 2, 0] = np.inf  # the second object of the first system
    upper = np.zeros((5, 4, 2))
    upper[4, 0, 1] = np.nan  # an object of the third
    far = np.zeros((5, 4), bool)
    far[2, 3] = True  # one of the second
    endings.close([mean, upper], far, np.array([0, 0, 1, 2, 2]), 0)
    assert endings.finite.tolist() == [2.0, 4.0, 0.0]
    assert endings.near.tolist() == [2.0, 3.0, 0.0]
    for part in (mean, upper):
        assert np.isfinite(part[:2, :2]).all() and np.isnan(part[:2, 2:]).all()
        assert np.isfinite(part[2]).all()
        assert np.isnan(part[3:]).all()


def test_what_ended_is_stored_in_the_time_of_the_data_and_said() -> None:
    dataset = xr.Dataset({"times": (("system", "time"), np.ones((3, 2)), {"units": "ps"})})
    Endings(np.array([1.0, 4.0]), np.array([1.0, 4.0, 4.0]), np.full(3, 4.0)).label(
        dataset, 0.5, "ps"
    )
    assert "system_near" not in dataset
    assert dataset["system_finite"].values.tolist() == [0.5, 2.0, 2.0]
    (sentence,) = sentences(dataset, lambda k: f"system {k}")
    assert sentence == (
        "1 of 3 systems stop being finite: system 0 after 0.5 ps; later values are missing"
    )


def test_usual_forecasts_store_nothing_about_endings(tested: Trajectories) -> None:
    found = trained().forecast(tested, samples=2)
    assert not {"system_finite", "system_near"} & set(found.dataset)
    assert found.endings() == []


@pytest.mark.parametrize("name", ["pgode", "gru", "node"])
def test_thousands_of_frames_are_finite_or_say_when_they_stop(
    name: str, tested: Trajectories, tmp_path: Path
) -> None:
    one = tested.select(np.arange(1))
    forecaster = trained().model if name == "pgode" else model(name, width=8)
    found = ahead(forecaster, one, LONGER)
    missing = np.isnan(found.mean).any((0, 1, 3))
    if missing.any():
        assert missing[np.argmax(missing) :].all()
        assert "system_finite" in found.dataset
    elif (np.abs(trained().normaliser.states(found.mean)) > 10).any():
        assert "system_near" in found.dataset
        assert "not to be trusted" in found.endings()[-1]
    found.write(tmp_path / "long.nc")
    with xr.open_dataset(tmp_path / "long.nc", engine="h5netcdf") as stored:
        assert stored.sizes["time"] == LONGER
        assert set(found.dataset) == set(stored)


def test_a_model_that_diverges_keeps_what_came_before(tested: Trajectories) -> None:
    run = replace(trained(), model=diverging(trained()), calibration=None)
    found = run.forecast(tested, until=300, samples=2)
    ends = found.dataset["system_finite"].values / run.normaliser.frame_duration
    for values, end in zip(found.mean, ends, strict=True):
        kept = round(float(end))
        assert np.isfinite(values[:, :kept]).all()
        assert np.isnan(values[:, kept:]).all()
    assert np.isnan(found.samples).any()
    assert "stop being finite" in found.endings()[0]


def test_long_forecasts_take_fewer_systems_at_once(tested: Trajectories) -> None:
    forecaster = trained().model
    assert systems_at_once(forecaster, tested, LONG) == 100
    assert systems_at_once(forecaster, tested, 10_000) == 13
    assert systems_at_once(forecaster, tested, 1_000_000) == 1


def test_a_forecast_beyond_memory_is_refused(
    tested: Trajectories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGODE_MEMORY", "100MB")
    with pytest.raises(InputError, match=r"a forecast of 4 systems .* needs about 2\.88 GB"):
        trained().forecast(tested, until=1_000_000, samples=0)
