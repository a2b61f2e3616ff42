"""Files of forecasts have the hashes of data files, which are compared when they are read."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
import xarray as xr
from tests.flips import flips, refusal
from tests.small_systems import CONDITION, uneven

from pgode.batches.normaliser import Normaliser
from pgode.cli.app import run_command
from pgode.data.files.guard.integrity import ATTRIBUTES, CONTENT, ContentWarning
from pgode.data.files.md_export import open_forecast_or_data
from pgode.data.files.stored import forecast_file
from pgode.data.files.stored.verification import verify_data
from pgode.models import build_model, model_config
from pgode.runs.forecasts import Forecasts, forecast_future
from pgode.runtime.errors import InputError


@pytest.fixture(scope="module")
def awkward() -> Forecasts:
    """Systems of different sizes, lengths and clocks, so that values are missing."""
    data = uneven()
    torch.manual_seed(0)
    settings = model_config("pgode", {"width": 8, "dynamics": {"prototypes": 3}})
    model = build_model("pgode", settings, Normaliser.fit(data)).eval()
    frames = np.array([0.5, 1.0, 2.5])
    return forecast_future(model, data, CONDITION, frames, calibration=None, samples=3, seed=0)


@pytest.fixture
def path(awkward: Forecasts, tmp_path: Path) -> Path:
    awkward.write(tmp_path / "ahead.nc")
    return tmp_path / "ahead.nc"


def _forget(path: Path) -> None:
    with h5py.File(path, "a") as file:
        for name in (CONTENT, ATTRIBUTES):
            del file.attrs[name]


def test_what_was_written_is_read_with_its_hash(path: Path, awkward: Forecasts) -> None:
    assert np.isnan(awkward.mean).any()
    found = open_forecast_or_data(path)
    np.testing.assert_array_equal(found["mean"].values, awkward.mean)
    np.testing.assert_array_equal(found["samples"].values, awkward.samples)
    assert found.attrs[CONTENT] == forecast_file.content_hash(awkward.dataset)
    assert CONTENT not in awkward.dataset.attrs


def test_text_of_any_kind_and_attributes_of_any_form_are_read_as_written(
    tmp_path: Path, awkward: Forecasts
) -> None:
    dataset = awkward.dataset.assign_attrs(one=[1], word=["a"])
    dataset["mean"].attrs["_FillValue"] = np.nan
    told = forecast_file.attribute_hash(dataset)
    Forecasts(dataset).write(tmp_path / "ahead.nc")
    found = open_forecast_or_data(tmp_path / "ahead.nc")
    assert forecast_file.attribute_hash(found) == told
    words = xr.Dataset({"times": ("x", np.array(["a", "bc"], np.dtypes.StringDType()))})
    same = xr.Dataset({"times": ("x", np.array(["a", "bc"]))})
    assert forecast_file.content_hash(words) == forecast_file.content_hash(same)


def test_the_hash_does_not_depend_on_the_pieces_it_is_made_of(
    awkward: Forecasts,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = forecast_file.content_hash(awkward.dataset)
    monkeypatch.setattr(forecast_file, "PIECE", 100)
    assert forecast_file.content_hash(awkward.dataset) == whole


@pytest.mark.parametrize("name", ["mean", "samples", "times"])
def test_a_changed_value_is_an_error_and_a_warning_by_force(name: str, path: Path) -> None:
    with h5py.File(path, "a") as file:
        file[name][0] = 7.0
    with pytest.raises(
        InputError, match=r"the values of .*ahead\.nc are not what was written"
    ) as e:
        open_forecast_or_data(path)
    assert "Copy or make it again" in str(e.value) and "--force" in str(e.value)
    with pytest.warns(ContentWarning, match="Going on"):
        assert (open_forecast_or_data(path, force=True)[name].values[0] == 7.0).all()


def test_a_changed_attribute_is_an_error(path: Path) -> None:
    with h5py.File(path, "a") as file:
        file["times"].attrs["units"] = "years"
    with pytest.raises(InputError, match="are not what was written"):
        open_forecast_or_data(path)


def test_a_changed_condition_is_an_error(path: Path) -> None:
    with h5py.File(path, "a") as file:
        file.attrs["condition_frames"] = 99
    with pytest.raises(InputError, match=r"the attributes \(title, condition, .*\) of"):
        open_forecast_or_data(path)


def test_a_forecast_without_hashes_is_read_as_it_is(path: Path, awkward: Forecasts) -> None:
    _forget(path)
    np.testing.assert_array_equal(open_forecast_or_data(path)["mean"].values, awkward.mean)
    found = verify_data(path)
    assert (found.kind, found.files[0].state, found.problems) == ("forecast", "form only", [])
    assert "has no hash" in found.notes[0]


def test_verify_compares_a_forecast_with_its_hash(
    path: Path,
    awkward: Forecasts,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["verify", str(path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["kind"] == "forecast" and found["verified"]
    assert found["files"][0]["sha256"] == forecast_file.content_hash(awkward.dataset)
    assert found["files"][0]["state"] == "as written"
    with h5py.File(path, "a") as file:
        file["mean"][0] = 7.0
    assert run_command(["verify", str(path)]) == 2
    said = capsys.readouterr()
    assert "are not what was written" in said.err and "ahead.nc" in said.err


def test_a_flipped_byte_is_refused_or_changes_nothing(path: Path) -> None:
    def content() -> tuple[str, str]:
        read = forecast_file.read(path)
        if read is None:
            raise InputError("no forecast any more")
        found.append((forecast_file.content_hash(read), forecast_file.attribute_hash(read)))
        return found[-1]

    found: list[tuple[str, str]] = []
    content()
    refused = sum(bool(refusal(content)) for _ in flips(path, 60))
    assert set(found) == {found[0]}
    assert refused > 20


def test_a_dataset_of_something_else_is_no_forecast(tmp_path: Path) -> None:
    xr.Dataset({"x": ("a", [1.0])}).to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    assert forecast_file.read(tmp_path / "x.nc") is None
    assert forecast_file.read(tmp_path / "none.nc") is None
