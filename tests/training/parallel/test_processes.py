"""Runs that several processes train: stopped, killed, resumed, launched by torchrun."""

import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.trained_runs import OPTIONS, data_file, settings, springs, trained, trained_in
from tests.training.test_resume import SignalAt, assert_same_run

from pgode.batches.parallel.peers import LostProcessError
from pgode.cli.app import run_command
from pgode.runs.run import Run
from pgode.runs.training import resume, train
from pgode.training.checkpoint import Progress, read_tensors
from pgode.training.display import Display
from pgode.training.metrics import read_metrics

SHARED = settings(training_processes=2)
LAWS = ("--preset", "default")


@cache
def shared_run() -> Run:
    """The tiny run by two processes that nothing interrupted."""
    folder = trained().folder.parent / "shared"
    return train(springs(), folder, SHARED, source=str(data_file()))


def children() -> list[int]:
    """Processes that this one has started and that are alive."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(each) for each in listed if "follower" in _command(int(each))]


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


class KillFollower(Display):
    """Kills the other process after some steps."""

    def __init__(self, step: int) -> None:
        self.left = step

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(children()[0], signal.SIGKILL)


def test_two_processes_train_to_nearly_the_numbers_of_one() -> None:
    ours, alone = (read_metrics(run.folder) for run in (shared_run(), trained()))
    errors = [[row["val_mse"] for row in rows] for rows in (ours, alone)]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-3)
    assert shared_run().config.training.processes == 2
    assert children() == []


def test_an_interrupted_run_of_two_processes_ends_with_the_same_bits(tmp_path: Path) -> None:
    assert trained_in(tmp_path / "run", SHARED, SignalAt(5)) is None
    assert children() == []
    assert_same_run(resume(tmp_path / "run", springs()).folder, shared_run().folder)


def test_a_lost_process_ends_training_with_a_sentence_and_costs_nothing(tmp_path: Path) -> None:
    killed = r"process 2 of 2 was killed by signal 9.*with --resume"
    with pytest.raises(LostProcessError, match=killed):
        trained_in(tmp_path / "run", SHARED, KillFollower(6))
    _, header = read_tensors(tmp_path / "run/checkpoints/last.safetensors")
    assert '"epoch": 1, "step": 2' in header["progress"]
    assert_same_run(resume(tmp_path / "run", springs()).folder, shared_run().folder)


def test_a_run_goes_on_with_another_number_of_processes(tmp_path: Path) -> None:
    assert trained_in(tmp_path / "run", SHARED, SignalAt(5)) is None
    run = resume(tmp_path / "run", springs(), processes=1)
    errors = [[row["val_mse"] for row in read_metrics(r.folder)] for r in (run, shared_run())]
    np.testing.assert_allclose(errors[0], errors[1], rtol=1e-3)


def test_torchrun_trains_the_run_that_started_processes_train(tmp_path: Path) -> None:
    launch = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launch, "-m", "pgode", "train", str(data_file()), "-o", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-m", *command, *OPTIONS],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Trained") == 1
    assert_same_run(tmp_path / "run", shared_run().folder)


def test_data_that_are_in_no_file_are_shared_for_the_time_of_training(tmp_path: Path) -> None:
    run = train(springs(), tmp_path / "run", settings(training_processes=2, training_epochs=1))
    assert not list(run.folder.glob(".shared*"))
    first = read_metrics(shared_run().folder)[0]["train"]["total"]
    # The learning rate of a step depends on the number of epochs.
    np.testing.assert_allclose(read_metrics(run.folder)[0]["train"]["total"], first, rtol=0.1)


@pytest.mark.parametrize(
    "options, environment, words",
    [
        (("--processes", "3"), {}, "3 processes cannot share a batch of 2 windows"),
        (("--processes", "0"), {}, '"training.processes" is 0, which is invalid'),
        ((), {"WORLD_SIZE": "2", "RANK": "0"}, "MASTER_ADDR and MASTER_PORT are not set"),
        ((), {"WORLD_SIZE": "many"}, 'WORLD_SIZE is "many"'),
        (
            ("--processes", "2"),
            {"WORLD_SIZE": "4", "RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"},
            "was launched as 4 processes",
        ),
    ],
)
def test_numbers_of_processes_that_cannot_be_are_refused(
    options: tuple[str, ...],
    environment: dict[str, str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    command = ["train", str(data_file()), "-o", str(tmp_path / "run"), *OPTIONS, *options]
    assert run_command(command) == 2
    said = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert words in said and said.startswith("Error: ") and "Traceback" not in said
    assert not (tmp_path / "run").exists()


def test_laws_leave_nothing_to_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", str(data_file()), "-o", str(tmp_path / "run"), "--processes", "2"]
    window = ["--set", "window.condition=6", "--set", "window.horizon=6"]
    assert run_command([*command, *window]) == 2
    assert "fitted without gradient steps" in capsys.readouterr().err
