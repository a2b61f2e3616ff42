"""`pgode forecast` from table to table: names, dates and values are kept; bad input is named."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from tests.runs.exchange import clinics

from pgode.cli.app import run_command

KEY = ["Region", "clinic", "date"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(clinics.run().folder, "run")
    now = clinics.now()
    now.to_csv("now.csv", index=False)
    now.to_parquet("now.parquet")
    now.to_csv("semicolons.txt", index=False, sep=";")
    Path("empty.csv").touch()
    now.iloc[:0].to_csv("headed.csv", index=False)
    clinics.now(days=4).to_csv("short.csv", index=False)
    clinics.now(ahead=0).to_csv("past.csv", index=False)
    now.drop(columns="holiday").to_csv("plain.csv", index=False)
    now.rename(columns={"new cases": "New Cases"}).to_csv("renamed.csv", index=False)
    now.replace({"date": {"2020-03-02": "gestern"}}).to_csv("day.csv", index=False)
    shutil.copy("now.csv", "now.xlsx")
    Path("folder.csv").mkdir()
    return tmp_path


@pytest.mark.parametrize("source", ["now.csv", "now.parquet", "semicolons.txt"])
def test_a_table_goes_in_and_a_table_with_the_values_of_the_netcdf_comes_out(
    source: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for output, *words in (["future.nc"], ["future.csv"], ["future.parquet", "--table"]):
        assert run_command(["forecast", "run", source, "-o", output, *words]) == 0
        size = f"{Path(output).stat().st_size / 1000:.3g} kB"
        expected = f"wrote {output}: 2 systems, 4 times each, mean and 90 % interval, {size}"
        assert expected in " ".join(capsys.readouterr().out.split())
    table = pd.read_csv("future.csv", parse_dates=["date"])
    assert list(table.columns[:3]) == KEY
    assert sorted(set(table["clinic"])) == sorted(clinics.CLINICS)
    assert table["date"].min() == pd.Timestamp("2020-03-07")
    pd.testing.assert_frame_equal(pd.read_parquet("future.parquet"), table, check_dtype=False)
    with xr.open_dataset("future.nc", decode_timedelta=False) as stored:
        assert stored.attrs["time_origin"].startswith("2020-03-01")
        assert stored["system_name"].values.tolist() == list(clinics.REGIONS)
        for quantity in ("mean", "lower", "upper"):
            values = stored[quantity].values.ravel()
            assert table[f"new cases_{quantity}"].tolist() == values.tolist()


def test_a_forecast_table_continues_the_observed_one(place: Path) -> None:
    """Its rows are those that were to be forecast, so that they join by name and date."""
    assert run_command(["forecast", "run", "now.csv", "-o", "future.csv"]) == 0
    now, future = pd.read_csv("now.csv"), pd.read_csv("future.csv")
    asked = now[now["new cases"].isna()]
    merged = asked.merge(future, on=KEY)
    assert len(asked) == len(future) == len(merged)


WRONG = {
    "now.csv -o f.nc --table": "cannot write a table to f.nc",
    "now.csv -o f.xlsx": "Expected the name of a NetCDF file, ending in .nc, or of a table",
    "now.csv -o folder.csv": "a folder of that name is in the way",
    "now.csv -o f.csv --samples 5": "the table f.csv holds no samples",
    "now.csv -o f.csv --split train": 'no system of now.csv is in the split "train"',
    "now.csv -o f.csv --until 9": 'the input "holiday" of Bad Ölz of Süd Tirol is not known at',
    "now.xlsx -o f.csv": "the ending .xlsx is not known. Expected data (.nc",
    "gone.csv -o f.csv": "gone.csv: there is no such file",
    "folder.csv -o f.csv": "folder.csv: it is a folder",
    "empty.csv -o f.csv": "empty.csv is empty",
    "headed.csv -o f.csv": "headed.csv has no rows",
    "short.csv -o f.csv": "Süd Tirol in short.csv has 4 frames, fewer than the condition of 6",
    "past.csv -o f.csv": "is not known at 2020-03-07, which is to be forecast",
    "plain.csv -o f.csv": 'plain.csv has no column "holiday" (known inputs); it has Region, clinic',
    "renamed.csv -o f.csv": 'no column "new cases" (features)',
    "day.csv -o f.csv": 'line 5 of day.csv has "gestern" in the column "date"',
}


@pytest.mark.parametrize("words", WRONG)
def test_bad_input_is_one_sentence_and_writes_nothing(
    words: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in place.iterdir())
    assert run_command(["forecast", "run", *words.split()]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert WRONG[words] in error
    assert "Traceback" not in error
    assert sorted(path.name for path in place.iterdir()) == before
