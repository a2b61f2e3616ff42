"""A search in processes of its own: interrupted, killed, started again, and on Ray."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.trained_runs import data_file
from tests.tuning.conftest import SETTINGS

from pgode.runtime.terminal.task_bars import logged_epochs
from pgode.tuning.trials.files import read_trials, trial_folder

EPOCHS, TRIALS = 60, 2


def words(folder: Path, space: Path, *options: str) -> list[str]:
    changes = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    given = {"--trials": TRIALS, "--epochs": EPOCHS, "--horizon": 6, "--model": "gru"}
    given |= {"-o": folder, "--space": space}
    named = [str(word) for pair in given.items() for word in pair]
    command = [sys.executable, "-m", "pgode.cli", "tune", str(data_file())]
    return [*command, *named, *changes, *options]


def until(condition) -> None:
    deadline = time.monotonic() + 1200
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def workers(folder: Path) -> list[int]:
    """Processes that work for this search."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            said = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"pgode.tuning.trials.worker" in said and os.fsencode(folder) in said:
            found.append(int(entry.name))
    return found


def epochs_of(folder: Path) -> int:
    """Epochs of all trials so far."""
    return sum(logged_epochs(trial_folder(folder, index)) for index in range(TRIALS))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, small_tune, small_space):
    """The search that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "t"
    return small_tune(folder, small_space, trials=TRIALS, epochs=EPOCHS)


def test_an_interrupted_and_a_killed_search_go_on_to_the_same_numbers(tmp_path, small_space, whole):
    folder = tmp_path / "t"
    command = words(folder, small_space)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: epochs_of(folder) > 0 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "of 2 trials have ended and are kept in" in said and "same command" in said
    assert not workers(folder)
    done = epochs_of(folder)
    assert 0 < done < TRIALS * EPOCHS

    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        until(lambda: epochs_of(folder) != done or process.poll() is not None)
        os.kill(process.pid, signal.SIGKILL)
        for worker in workers(folder):
            os.kill(worker, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert len(read_trials(folder)) < TRIALS or read_trials(folder)[-1].result is None

    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "going on with a search" in ended.stderr
    trials = read_trials(folder)
    assert [trial.plan.values for trial in trials] == [t.plan.values for t in whole.trials]
    assert [trial.result.errors for trial in trials] == [t.result.errors for t in whole.trials]
    assert f"Best run: {folder / 'best'}" in ended.stdout


def test_two_searches_do_not_share_a_folder(tmp_path, small_space):
    folder = tmp_path / "t"
    with subprocess.Popen(words(folder, small_space), stdout=subprocess.DEVNULL) as process:
        until(lambda: (folder / "study.db").exists() or process.poll() is not None)
        second = words(folder, small_space)
        refused = subprocess.run(second, capture_output=True, text=True, check=False)
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
    assert refused.returncode == 2
    assert "another search is running in" in refused.stderr


def test_trials_on_ray_have_the_numbers_of_those_here(tmp_path, small_space, whole):
    command = words(tmp_path / "t", small_space, "--engine", "ray", "--jobs", "2")
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    trials = read_trials(tmp_path / "t")
    assert [trial.plan.values for trial in trials] == [t.plan.values for t in whole.trials]
    for ours, theirs in zip(trials, whole.trials, strict=True):
        assert ours.result.errors == pytest.approx(theirs.result.errors, rel=1e-4)
    assert (tmp_path / "t" / "best" / "calibration.json").exists()
