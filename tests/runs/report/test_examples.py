"""Which windows a report shows, and how it names them."""

from pathlib import Path

import numpy as np
import pytest

from pgode.cli.app import run_command
from pgode.data import files
from pgode.data.trajectories import Trajectories
from pgode.runs import api
from pgode.runs.report.examples import examples_of, shown_origins
from pgode.runs.run import Run

SMALL = {"model.width": 8, "window.condition": 4, "training.threads": 1, "window.stride": 7}


def series(systems: int = 3, objects: int = 2, frames: int = 30) -> Trajectories:
    random = np.random.default_rng(0)
    states = np.cumsum(random.normal(size=(systems, objects, frames, 1)), axis=2)
    times = np.tile(np.arange(float(frames)), (systems, 1))
    times[-1, 25:] = np.nan
    return Trajectories.build(
        states,
        times,
        edges=np.tile(1 - np.eye(objects), (systems, 1, 1)),
        features=("cases",),
        observed=random.random(states.shape) > 0.1,
        split=["train", "val", "test"][-systems:],
        system_names=["north", "south", "east"][-systems:],
        object_names=np.tile([f"<i>state {k}</i>" for k in range(objects)], (systems, 1)),
        time_units="days",
        time_origin="2021-03-01",
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs")
    files.write(series(), folder / "series.nc")
    return api.train(
        folder / "series.nc", folder / "run", preset="messages", horizon=6, epochs=1, settings=SMALL
    )


def test_a_long_series_is_shown_by_windows_along_it_with_names_and_dates(run: Run) -> None:
    data = series()
    shown = examples_of(run, data.split_of("test"), "test", 6, 3, 4, 0)
    assert [each.name for each in shown] == ["test east"] * 3
    assert shown[0].labels == ["<i>state 0</i>", "<i>state 1</i>"]
    assert shown[0].period == "observed from 2021-03-01, forecast 2021-03-05 to 2021-03-10"
    assert shown[1].period == "observed from 2021-03-07, forecast 2021-03-11 to 2021-03-16"
    assert shown[1].dates[4] == "2021-03-11"
    truth = data.states[2, :, 10:16]
    np.testing.assert_allclose(shown[1].truth, truth, atol=1e-5)
    np.testing.assert_array_equal(shown[1].observed, data.states[2, :, 6:10])


def test_frames_that_a_system_does_not_have_are_not_shown(run: Run) -> None:
    shown = examples_of(run, series().split_of("test"), "test", 30, 1, 4, 0)
    assert len(shown[0].forecast_times) == 25 - 4
    assert (np.diff(shown[0].times) > 0).all()


def test_first_windows_come_first_and_short_systems_are_left_out() -> None:
    data = series()
    found = shown_origins(data, 4, 6, 5, rolling=True)
    assert found.systems.tolist() == [0, 1, 2, 0, 1]
    assert found.starts.tolist() == [0, 0, 0, 6, 6]
    assert shown_origins(data, 4, 6, 5, rolling=False).systems.tolist() == [0, 1, 2]
    assert shown_origins(data, 4, 6, 2, rolling=True).starts.tolist() == [0, 0]
    assert shown_origins(data, 25, 6, 5, rolling=False).systems.tolist() == [0, 1]


def test_the_report_uses_the_trained_horizon_or_those_asked_for(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.html"
    command = ["report", str(run.folder), "-o", str(path), "--samples", "3", "--examples", "2"]
    assert run_command(command) == 0
    text = path.read_text(encoding="utf-8")
    assert "&quot;horizons&quot;: [6]" in text
    assert "&lt;i&gt;state 0&lt;/i&gt;" in text and "<i>state" not in text
    assert run_command([*command, "--horizons", "3,1", "--overwrite"]) == 0
    assert "&quot;horizons&quot;: [1, 3]" in path.read_text(encoding="utf-8")
    assert run_command([*command, "--horizons", "0"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--horizons '0' is not a list of whole numbers" in said
