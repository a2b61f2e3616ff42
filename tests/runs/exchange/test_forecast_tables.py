"""Forecasts as tables: the rows of the NetCDF file under the names of the data."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from tests.runs.exchange import clinics
from tests.small_systems import CONDITION, uneven
from tests.trained_runs import HORIZON, springs, trained

from pgode.batches.normaliser import Normaliser
from pgode.models import build_model, model_config
from pgode.runs.exchange.forecast_tables import forecast_frame, without_noise
from pgode.runs.forecasts import Forecasts, forecast_future
from pgode.runtime.errors import InputError

KEYS = ["Region", "clinic", "date"]


@pytest.fixture(scope="module")
def forecast() -> Forecasts:
    return clinics.run().forecast(clinics.now(), seed=1)


def made(**changes: object) -> xr.Dataset:
    """Two systems of two objects, of which the second lacks one, and three times."""
    mean = np.arange(12.0).reshape(2, 2, 3, 1)
    mean[1, 1] = np.nan
    dims = ("system", "object", "time", "feature")
    times = np.array([[0.30000000000000004, 0.4, 0.5], [1.3, 1.4000000000000001, 1.5]])
    content = {
        "mean": (dims, mean),
        "present": (("system", "object"), [[True, True], [True, False]]),
        "seen": (("system", "object"), np.ones((2, 2), dtype=bool)),
        "times": (("system", "time"), times, {"units": "s"}),
        **changes,
    }
    return xr.Dataset(content, coords={"feature": ["x"]})


def test_a_table_has_a_row_per_system_object_and_time_with_the_names_of_the_data(
    forecast: Forecasts,
) -> None:
    table = forecast.to_dataframe()
    assert list(table.columns) == [*KEYS, *(f"new cases_{q}" for q in ("mean", "lower", "upper"))]
    ahead = np.datetime64("2020-03-07") + np.arange(clinics.HORIZON)
    rows = [(r, c, d) for r in clinics.REGIONS for c in clinics.CLINICS for d in ahead]
    assert list(zip(table["Region"], table["clinic"], strict=True)) == [row[:2] for row in rows]
    assert table["date"].dtype.kind == "M"
    assert (table["date"] == [row[2] for row in rows]).all()
    for quantity in ("mean", "lower", "upper"):
        expected = forecast.dataset[quantity].values.ravel()
        np.testing.assert_array_equal(table[f"new cases_{quantity}"], expected)


def test_absent_objects_have_no_rows_and_nameless_ones_have_numbers() -> None:
    table = forecast_frame(made())
    assert list(table.columns) == ["system", "object", "time", "x_mean"]
    assert table["system"].tolist() == [0] * 6 + [1] * 3
    assert table["object"].tolist() == [0] * 3 + [1] * 3 + [0] * 3
    assert table["x_mean"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]


def test_a_present_object_whose_forecast_is_not_finite_keeps_its_rows() -> None:
    assert len(forecast_frame(made(present=(("system", "object"), [[True] * 2] * 2)))) == 12


def test_an_object_that_was_not_seen_in_the_condition_has_no_rows() -> None:
    data = uneven()
    settings = model_config("last-value", {})
    model = build_model("last-value", settings, Normaliser.fit(data)).eval()
    found = forecast_future(
        model, data, CONDITION, np.array([1.0]), calibration=None, samples=0, seed=0
    )
    seen = found.dataset["seen"].values
    assert np.argwhere(data.present & ~seen).tolist() == [[3, 2]]
    table = found.to_dataframe()
    assert len(table) == data.present.sum() - 1
    assert ((table["system"] == 3) & (table["object"] == 2)).sum() == 0


def test_whole_times_stay_whole() -> None:
    dims, units = ("system", "time"), {"units": ""}
    frames = made(times=(dims, np.array([[3.0, 4, 5]] * 2), units))
    assert forecast_frame(frames)["time"].dtype.kind == "i"


def test_times_lose_the_noise_of_their_last_digits() -> None:
    assert forecast_frame(made())["time"].tolist() == [0.3, 0.4, 0.5, 0.3, 0.4, 0.5, 1.3, 1.4, 1.5]
    seconds = 1.6e9 + np.array([[0.001, 0.002]])
    np.testing.assert_allclose(without_noise(seconds) - 1.6e9, [[0.001, 0.002]], atol=3e-5)
    tiny = np.array([[3e-15, 4e-15]])
    np.testing.assert_allclose(without_noise(tiny), tiny, rtol=1e-9)


def test_names_that_are_numbers_come_out_as_numbers() -> None:
    names = (("system", "object"), [["7", "12"], ["12", ""]])
    assert forecast_frame(made(object_name=names))["object"].tolist() == [7] * 3 + [12] * 6
    names = (("system", "object"), [["07", "12"], ["12", ""]])
    assert forecast_frame(made(object_name=names))["object"].tolist() == ["07"] * 3 + ["12"] * 6


@pytest.mark.parametrize(
    "columns, expected",
    [
        ({"system_column": "match", "object_column": "player"}, ["match", "player", "time"]),
        ({"system_column": "", "time_column": "t"}, ["system", "object", "t"]),
    ],
)
def test_columns_are_called_as_in_the_table_of_the_data(
    columns: dict[str, str], expected: list[str]
) -> None:
    table = forecast_frame(made().assign_attrs(columns))
    assert list(table.columns) == [*expected, "x_mean"]


def test_one_system_without_a_column_for_it_gets_none() -> None:
    single = made().isel(system=[0]).assign_attrs(system_column="", object_column="id")
    assert list(forecast_frame(single).columns) == ["id", "time", "x_mean"]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match=r'two columns .* would be called "x_mean"'):
        forecast_frame(made().assign_attrs(object_column="x_mean"))


def test_csv_and_parquet_hold_the_same_table(forecast: Forecasts, tmp_path: Path) -> None:
    expected = forecast.to_dataframe()
    forecast.write(tmp_path / "new" / "future.csv")
    forecast.write_table(tmp_path / "new" / "future.parquet")
    found = pd.read_csv(tmp_path / "new" / "future.csv", parse_dates=["date"])
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=0, atol=0)
    stored = pd.read_parquet(tmp_path / "new" / "future.parquet")
    pd.testing.assert_frame_equal(stored, expected)
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["future.csv", "future.parquet"]
    text = (tmp_path / "new" / "future.csv").read_text(encoding="utf-8").splitlines()
    assert text[1].startswith("Süd Tirol,Bad Ölz,2020-03-07,")


def test_without_samples_the_interval_stays_and_the_table_is_the_same() -> None:
    full = trained().forecast(springs(), seed=2)
    short = full.without_samples()
    assert "samples" not in short.dataset and len(short.samples) == 0
    pd.testing.assert_frame_equal(short.to_dataframe(), full.to_dataframe())
    assert full.content == f"19 systems, {HORIZON} times each, 20 samples"
    assert short.content == f"19 systems, {HORIZON} times each, mean and 90 % interval"
    bare = trained().forecast(springs().select([3]), samples=0, until=1)
    assert bare.content == "1 system, 1 time each, mean alone"
    assert [c for c in bare.to_dataframe().columns if c.endswith("lower")] == []


@pytest.mark.parametrize("name", ["f.nc", "f", "f.xlsx"])
def test_a_table_has_the_ending_of_one(name: str, forecast: Forecasts, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.csv or \.parquet"):
        forecast.write_table(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_parquet_without_pyarrow_says_what_to_install(
    forecast: Forecasts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgode.runs.exchange.forecast_tables.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'pgode\[tables\]', or write .* \.csv"):
        forecast.write(tmp_path / "f.parquet")
    forecast.write(tmp_path / "f.csv")


def test_the_sentence_about_trust_uses_names() -> None:
    content = made(
        system_name=("system", ["Süd", "Øst"]),
        object_name=(("system", "object"), [["Ann", "Bo"], ["Cy", "Di"]]),
        system_trusted=(("system", "one"), [[2.0], [0.5]]),
        untrusted_pair=(("system", "object", "one"), [[[0.0], [0.0]], [[1.0], [1.0]]]),
    )
    assert Forecasts(content).trust().endswith("in s: Øst until 0.5 (Cy and Di)")
