"""Forecasts for hubs: the eight columns, the 23 levels, and what is refused."""

import csv
from datetime import date, timedelta

import numpy as np
import pytest
from tests.covid_reports import write_compact

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.files.covid import CovidSettings, Days, build, read_source
from pgode.data.files.covid.reports import FIRST
from pgode.evaluation.covid.quantiles import LEVELS
from pgode.runs.run import Run
from pgode.runs.training import train
from pgode.training.config import run_config

CONDITION, HORIZON, DAYS = 15, 14, 70
CHANGES = {
    "window.condition": CONDITION,
    "window.horizon": HORIZON,
    "window.stride": 8,
    "training.epochs": 1,
    "training.threads": 1,
    "model.width": 8,
    "model.solver.method": "euler",
    "model.state.kind": "regressed",
    "model.state.linear.spacing": 7,
    "model.state.linear.constant": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run on weekly means, its data, and daily data."""
    root = tmp_path_factory.mktemp("hub")
    until = FIRST + timedelta(days=DAYS - 1)
    days = Days.of_reports(read_source(write_compact(root / "all.csv", DAYS), until))
    shared = {"features": ("confirmed", "deaths"), "condition": CONDITION, "horizon": HORIZON}
    weekly = build(days, CovidSettings(average=7, transform="sqrt", validation=3, **shared))
    files.write(weekly, root / "weekly.nc")
    files.write(build(days, CovidSettings(validation=0, **shared)), root / "daily.nc")
    train(weekly, root / "run", run_config("pgode", "messages", None, CHANGES))
    return root


def forecast(folder, data="weekly.nc", out="f.csv") -> int:
    arguments = ["forecast", folder / "run", folder / data, "-o", folder / out]
    return run_command([*map(str, arguments), "--format", "hubverse"])


def test_rows_are_those_of_a_hub(folder):
    assert forecast(folder) == 0
    with (folder / "f.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        *("reference_date", "target", "horizon", "target_end_date"),
        *("location", "output_type", "output_type_id", "value"),
    ]
    assert len(rows) == 50 * 2 * 23
    saturday = date.fromisoformat(rows[0]["reference_date"])
    last = FIRST + timedelta(days=DAYS - 1)
    assert saturday.weekday() == 5
    assert 0 <= (last - saturday).days < 7
    assert {row["location"] for row in rows} >= {"01", "02", "06", "56"}
    assert {row["output_type"] for row in rows} == {"quantile"}
    assert {(row["horizon"], row["target_end_date"]) for row in rows} == {
        ("1", str(saturday + timedelta(days=7))),
        ("2", str(saturday + timedelta(days=14))),
    }
    levels = np.array([float(row["output_type_id"]) for row in rows]).reshape(-1, 23)
    np.testing.assert_allclose(levels, np.tile(LEVELS, (100, 1)))
    values = np.array([float(row["value"]) for row in rows]).reshape(-1, 23)
    assert values.min() >= 0
    assert (np.diff(values, axis=1) >= 0).all()


def test_the_median_is_near_the_mean_forecast_of_the_week(folder):
    forecast(folder)
    with (folder / "f.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["output_type_id"] == "0.5"]
    median = np.array([float(row["value"]) for row in rows]).reshape(50, 2)
    data = files.read(folder / "weekly.nc")
    latest = data.select([int(np.argmax(np.nanmax(data.times, axis=1)))])
    count = int(latest.n_frames[0])
    end = (FIRST + timedelta(days=int(latest.times[0, count - 1]))).weekday()
    observed = latest.frames_between(0, count - (end - 5) % 7)
    found = Run.open(folder / "run").forecast(observed, until=HORIZON, samples=0)
    week = 7 * found.mean[0, :, [6, 13], 1].T
    np.testing.assert_allclose(median, week, rtol=0.5, atol=15)
    assert np.corrcoef(median.ravel(), week.ravel())[0, 1] > 0.97


@pytest.mark.parametrize(
    "data, out, says",
    [
        ("daily.nc", "g.csv", "does not hold weekly means"),
        ("weekly.nc", "g.nc", "ends in .csv"),
    ],
)
def test_other_data_and_other_files_are_refused(folder, capsys, data, out, says):
    assert forecast(folder, data, out) == 2
    assert says in " ".join(capsys.readouterr().err.split())
    assert not (folder / out).exists()


def test_an_unknown_format_is_refused(folder, capsys):
    command = ["forecast", folder / "run", folder / "weekly.nc", "-o", folder / "g.csv"]
    assert run_command([*map(str, command), "--format", "hub"]) == 2
    assert 'no format "hub"' in capsys.readouterr().err
