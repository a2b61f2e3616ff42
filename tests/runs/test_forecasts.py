"""Forecasts of the future: what the file holds, in which units, and what stays the same."""

from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from tests.small_systems import CONDITION as SHORT
from tests.small_systems import FRAMES as LENGTHS
from tests.small_systems import OBJECTS, uneven
from tests.trained_runs import CONDITION, HORIZON, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories
from pgode.evaluation.predictions import BATCH
from pgode.models import build_model, model_config
from pgode.runs.forecasts import Forecasts, forecast_future
from pgode.runtime.errors import InputError

DIMS = ("system", "object", "time", "feature")


@pytest.fixture(scope="module")
def forecast() -> Forecasts:
    return trained().forecast(springs(), samples=20, seed=3)


@pytest.fixture(scope="module")
def awkward() -> Forecasts:
    """Systems of different sizes, lengths and clocks."""
    data = uneven()
    torch.manual_seed(0)
    settings = model_config("pgode", {"width": 8, "dynamics": {"prototypes": 3}})
    model = build_model("pgode", settings, Normaliser.fit(data)).eval()
    frames = np.array([0.5, 1.0, 2.5])
    return forecast_future(model, data, SHORT, frames, calibration=None, samples=3, seed=0)


def test_the_file_opens_with_plain_xarray(forecast: Forecasts, tmp_path: Path) -> None:
    path = tmp_path / "new" / "forecast.nc"
    forecast.write(path)
    with xr.open_dataset(path) as opened:
        found = opened.load()
    for name in ("mean", "lower", "upper"):
        assert found[name].dims == DIMS
    assert found["samples"].dims == ("sample", *DIMS)
    assert found["times"].dims == ("system", "time")
    assert found["feature"].values.tolist() == ["qx", "qy", "vx", "vy"]
    assert found["split"].values.tolist() == springs().split.tolist()
    assert found["gate"].shape == (springs().systems, springs().objects, 2)
    assert found["object_context"].shape[:2] == found["gate"].shape[:2]
    assert found["system_context"].shape == (springs().systems, 8)
    assert found.attrs["observed_hash"] == springs().hash
    assert found.attrs["condition_frames"] == CONDITION
    np.testing.assert_array_equal(found["mean"].values, forecast.mean)
    np.testing.assert_array_equal(found["samples"].values, forecast.samples)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_mean_is_the_models_forecast_in_the_units_of_the_data(forecast: Forecasts) -> None:
    run, data = trained(), springs()
    windows = Windows(data, run.normaliser, CONDITION, 1)
    batch = next(windows.last(data.systems, np.arange(1.0, HORIZON + 1)))
    asked = torch.arange(1.0, HORIZON + 1).expand(data.systems, -1)
    with torch.no_grad():
        scaled = run.model.forecast(batch, asked).mean.double().numpy()
    expected = run.normaliser.raw(scaled).reshape(forecast.mean.shape)
    np.testing.assert_array_equal(forecast.mean, expected)
    # Next to where the systems were last seen, and not in scaled units.
    jump = np.abs(forecast.mean[:, :, 0] - data.states[:, :, -1]).max()
    assert jump < 0.2 * np.abs(data.states).max()
    ahead = data.times[:, -1:] + np.arange(1, HORIZON + 1) * 0.1
    np.testing.assert_allclose(forecast.dataset["times"].values, ahead)


def test_the_model_sees_only_the_last_frames(forecast: Forecasts) -> None:
    tail = springs().frames_between(springs().frames - CONDITION, springs().frames)
    found = trained().forecast(tail, samples=0)
    np.testing.assert_allclose(found.mean, forecast.mean, atol=1e-6)


def test_frames_and_times_agree_where_they_meet(forecast: Forecasts) -> None:
    run, data = trained(), springs()
    short = run.forecast(data, until=2, samples=0)
    np.testing.assert_allclose(short.mean, forecast.mean[:, :, :2], atol=1e-6)
    long = run.forecast(data, until=HORIZON + 4, samples=0)
    np.testing.assert_allclose(long.mean[:, :, :HORIZON], forecast.mean, atol=1e-6)
    timed = run.forecast(data, times=[0.1, 0.2, 0.5], samples=0)
    np.testing.assert_allclose(timed.mean, forecast.mean[:, :, [0, 1, 4]], atol=1e-4)
    np.testing.assert_allclose(
        timed.dataset["times"].values, forecast.dataset["times"].values[:, [0, 1, 4]]
    )


def test_between_frames_a_forecast_lies_between_its_neighbours() -> None:
    found = trained().forecast(springs(), times=[0.1, 0.15, 0.2], samples=0).mean[..., :2]
    middle = (found[:, :, 0] + found[:, :, 2]) / 2
    step = np.abs(found[:, :, 2] - found[:, :, 0]).max()
    assert np.abs(found[:, :, 1] - middle).max() < 0.1 * step


def test_samples_are_fixed_by_the_seed(forecast: Forecasts) -> None:
    again = trained().forecast(springs(), samples=20, seed=3)
    other = trained().forecast(springs(), samples=20, seed=4)
    np.testing.assert_array_equal(again.samples, forecast.samples)
    np.testing.assert_array_equal(other.mean, forecast.mean)
    assert not np.array_equal(other.samples, forecast.samples)


def test_the_interval_is_that_of_the_samples_and_mostly_holds_the_mean(forecast: Forecasts) -> None:
    found = forecast.dataset
    assert (found["lower"] <= found["upper"]).all()
    inside = ((found["lower"] <= found["mean"]) & (found["mean"] <= found["upper"])).mean()
    assert inside > 0.9
    held = (found["lower"] <= found["samples"]) & (found["samples"] <= found["upper"])
    assert float(held.mean()) == pytest.approx(0.9, abs=0.01)


def test_without_samples_there_is_no_interval() -> None:
    found = trained().forecast(springs(), samples=0)
    assert not {"samples", "lower", "upper"} & set(found.dataset.data_vars)
    assert found.samples.shape == (0, *found.mean.shape)


def test_absent_objects_have_no_forecast_and_present_ones_do(awkward: Forecasts) -> None:
    present = np.arange(awkward.mean.shape[1]) < OBJECTS[:, None]
    for name in ("mean", "lower", "upper"):
        values = awkward.dataset[name].values
        assert np.isfinite(values[present]).all()
        assert np.isnan(values[~present]).all()
    samples = np.moveaxis(awkward.samples, 0, 2)
    assert np.isfinite(samples[present]).all()
    assert np.isnan(samples[~present]).all()
    gate = awkward.dataset["gate"].values
    np.testing.assert_allclose(gate[present].sum(-1), 1, rtol=1e-5)
    assert np.isnan(gate[~present]).all()


def test_each_system_goes_on_from_its_own_last_frame(awkward: Forecasts) -> None:
    data = uneven()
    last = data.times[np.arange(5), LENGTHS - 1]
    step = Normaliser.fit(data).frame_duration
    np.testing.assert_allclose(
        awkward.dataset["times"].values, last[:, None] + step * np.array([0.5, 1.0, 2.5])
    )


def test_samples_of_an_uncalibrated_forecast_are_as_many_draws_of_the_posterior() -> None:
    data = springs().split_of("test")
    model = trained().model
    found = forecast_future(
        model, data, CONDITION, np.array([6.0]), calibration=None, samples=20, seed=0
    )
    assert len(np.unique(found.samples.reshape(20, -1), axis=0)) == 20


def test_a_forecast_does_not_depend_on_which_other_systems_are_asked_for() -> None:
    assert springs().systems < BATCH
    whole = trained().forecast(springs(), samples=0).mean
    some = trained().forecast(springs().select([4, 2]), samples=0).mean
    np.testing.assert_allclose(some, whole[[4, 2]], atol=1e-6)


def test_parameters_are_not_needed_and_are_found_by_name() -> None:
    run, data = trained(), springs()
    expected = run.forecast(data, samples=2)
    bare = Trajectories.from_dataset(data.dataset.isel(parameter=slice(0, 0)))
    turned = Trajectories.from_dataset(data.dataset.isel(parameter=[3, 1, 0, 2]))
    for given in (bare, turned):
        found = run.forecast(given, samples=2)
        np.testing.assert_array_equal(found.mean, expected.mean)
        np.testing.assert_array_equal(found.samples, expected.samples)
    np.testing.assert_array_equal(run.conform(turned).parameters, data.parameters)
    assert np.isnan(run.conform(bare).parameters).all()
    assert run.conform(bare).hash == bare.hash


@pytest.mark.parametrize("name", ["f.xlsx", "f", "f.zarr"])
def test_other_endings_are_refused(name: str, forecast: Forecasts, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Expected the name of a NetCDF file, ending in \.nc"):
        forecast.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
