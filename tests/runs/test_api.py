"""Everything from Python, with the names that the documentation uses."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from tests.trained_runs import HORIZON, SETTINGS, data_file, springs, trained

import pgode
from pgode.runs.training import TrainingStopped
from pgode.training.checkpoint import Progress
from pgode.training.display import Display

TINY = {key: value for key, value in SETTINGS.items() if key != "training.epochs"}


class Interrupt(Display):
    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_simulate_train_forecast_evaluate_in_a_few_lines(tmp_path: Path) -> None:
    data = pgode.simulate("springs", objects=3, frames=18, train=8, val=4, test=4, ood=3, seed=1)
    run = pgode.train(data, tmp_path / "run", preset="messages", epochs=3, settings=TINY)
    result = run.evaluate(data)
    assert result.mse == trained().evaluate(springs()).mse
    forecast = run.forecast(data.split_of("test"), until=4, samples=5)
    assert forecast.mean.shape == (4, 3, 4, 4)
    forecast.write(tmp_path / "forecast.nc")
    assert isinstance(forecast, pgode.Forecasts)
    again = pgode.open_run(tmp_path / "run")
    assert isinstance(again, pgode.Run)
    np.testing.assert_array_equal(
        again.forecast(data, samples=0).mean, run.forecast(data, samples=0).mean
    )


def test_data_can_be_given_as_a_file_whose_path_the_run_remembers(tmp_path: Path) -> None:
    run = pgode.train(str(data_file()), tmp_path / "run", model="last-value", horizon=5)
    assert run.data.source == str(data_file())
    assert run.config.window.horizon == 5
    assert run.config.name == "last-value"
    assert run.forecast(pgode.read(data_file())).mean.shape[2] == 5


def test_settings_come_from_a_file_and_single_changes(tmp_path: Path) -> None:
    config = tmp_path / "my.yaml"
    config.write_text("window: {condition: 4}\ntraining: {batch: 3}\n")
    run = pgode.train(
        springs(),
        tmp_path / "run",
        model="constant-velocity",
        config=config,
        settings={"training.batch": 5},
        seed=7,
        threads=1,
    )
    assert run.config.window.condition == 4
    training = run.config.training
    assert (training.batch, training.seed, training.threads) == (5, 7, 1)


def test_an_interrupted_run_is_saved_and_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt, match="its state is saved"):
        pgode.train(
            springs(), folder, preset="messages", epochs=3, settings=TINY, display=Interrupt()
        )
    with pytest.raises(TrainingStopped) as stopped:
        pgode.resume(folder, springs(), display=Interrupt())
    assert stopped.value.folder == folder
    run = pgode.resume(folder, data_file())
    assert [row["val_mse"] for row in run.epochs] == [row["val_mse"] for row in trained().epochs]
    assert run.config.window.horizon == HORIZON


def test_bad_input_raises_an_input_error_that_is_a_value_error(tmp_path: Path) -> None:
    with pytest.raises(pgode.InputError, match="there is no model") as raised:
        pgode.train(springs(), tmp_path / "run", model="pgod")
    assert isinstance(raised.value, ValueError)
    assert isinstance(raised.value, pgode.PgodeError)
    with pytest.raises(pgode.InputError, match="there is no model"):  # before the data is read
        pgode.train(tmp_path / "gone.nc", tmp_path / "run", model="pgod")
    assert list(tmp_path.iterdir()) == []
