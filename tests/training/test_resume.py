"""A run that was stopped, however and wherever, ends with the bits of one that was not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.trained_runs import OPTIONS, data_file, settings, springs, trained, trained_in

from pgode.cli.app import run_command
from pgode.runs.run import Run
from pgode.runs.training import TrainingStopped, resume
from pgode.training.checkpoint import Progress, read_tensors
from pgode.training.display import Display
from pgode.training.loop import Trainer
from pgode.training.metrics import MetricsLog, read_metrics

STEPS = 4
"""Steps of one epoch of the tiny run; three epochs."""


class SignalAt(Display):
    """Sends this process a signal once a number of steps is done."""

    def __init__(self, step: int, number: int = signal.SIGINT) -> None:
        self.step_number, self.number, self.done = step, number, 0

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        self.done += 1
        if self.done == self.step_number:
            os.kill(os.getpid(), self.number)


def stopped_after(folder: Path, *steps: int, number: int = signal.SIGINT) -> Run:
    """Train with an interruption after each of these numbers of steps, and then to the end."""
    assert trained_in(folder, settings(), SignalAt(steps[0], number)) is None
    for count in steps[1:]:
        with pytest.raises(TrainingStopped):
            resume(folder, springs(), display=SignalAt(count, number))
    run = resume(folder, springs())
    assert run is not None
    return run


def rows(folder: Path) -> list[dict[str, Any]]:
    measured = ("seconds", "memory_gb")
    return [{k: v for k, v in row.items() if k not in measured} for row in read_metrics(folder)]


def assert_same_run(ours: Path, reference: Path) -> None:
    """Weights, optimisers, progress, log and calibration agree bit for bit; time may not."""
    assert rows(ours) == rows(reference)
    for name in ("last", "best"):
        tensors, header = read_tensors(ours / f"checkpoints/{name}.safetensors")
        expected, expected_header = read_tensors(reference / f"checkpoints/{name}.safetensors")
        assert tensors.keys() == expected.keys()
        assert [k for k, v in tensors.items() if not torch.equal(v, expected[k])] == []
        progress, wanted = (json.loads(h["progress"]) for h in (header, expected_header))
        assert {**progress, "seconds": 0} == {**wanted, "seconds": 0}
    calibration = "calibration.json"
    assert (ours / calibration).read_bytes() == (reference / calibration).read_bytes()


@pytest.mark.parametrize(
    "steps",
    [(2,), (STEPS,), (STEPS + 3,), (1, 4), (3, 2, 6)],
    ids=["mid-epoch", "before a validation", "second epoch", "twice", "three times"],
)
def test_an_interrupted_run_ends_with_the_same_bits(steps: tuple[int, ...], tmp_path: Path) -> None:
    assert_same_run(stopped_after(tmp_path / "run", *steps).folder, trained().folder)


def test_a_terminated_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    run = stopped_after(tmp_path / "run", 6, number=signal.SIGTERM)
    assert_same_run(run.folder, trained().folder)


def test_a_crash_costs_only_what_was_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that dies without a word goes on from its last checkpoint to the same bits."""

    class Crash(Display):
        def step(self, progress: Progress, terms: dict[str, float]) -> None:
            if (progress.epoch, progress.step) == (1, 3):
                raise MemoryError("killed")

    monkeypatch.setattr("pgode.training.loop.SAVE_EVERY", 0.0)
    with pytest.raises(MemoryError, match="killed"):
        trained_in(tmp_path / "run", settings(), Crash())
    _, header = read_tensors(tmp_path / "run/checkpoints/last.safetensors")
    progress = json.loads(header["progress"])
    assert (progress["epoch"], progress["step"]) == (1, 2)
    run = resume(tmp_path / "run", springs())
    assert run is not None
    assert_same_run(run.folder, trained().folder)


@pytest.mark.parametrize("owner, name", [(MetricsLog, "add"), (Trainer, "_save")])
def test_a_crash_at_the_end_of_an_epoch_leaves_the_log_no_row_short(
    owner: type, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log may be ahead of the checkpoint, never behind: its last row is then made again."""
    real = getattr(owner, name)

    def killed(self: Any, given: Any) -> None:
        if given == getattr(self, "last", None) and self.progress.epoch == 2:
            raise MemoryError("killed")
        if isinstance(given, dict) and given["epoch"] == 2:
            raise MemoryError("killed")
        real(self, given)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, killed)
        with pytest.raises(MemoryError, match="killed"):
            trained_in(tmp_path / "run", settings())
    run = resume(tmp_path / "run", springs())
    assert run is not None
    assert_same_run(run.folder, trained().folder)


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    run = stopped_after(tmp_path / "run", 1)
    again = resume(run.folder, springs())
    assert again is not None
    assert_same_run(again.folder, trained().folder)


def test_the_same_seed_gives_the_same_bits_and_another_does_not(tmp_path: Path) -> None:
    assert trained_in(tmp_path / "same", settings()) is not None
    assert_same_run(tmp_path / "same", trained().folder)
    assert trained_in(tmp_path / "other", settings(training_seed=1)) is not None
    theirs, _ = read_tensors(tmp_path / "other/checkpoints/last.safetensors")
    ours, _ = read_tensors(trained().folder / "checkpoints/last.safetensors")
    weights = [k for k, v in ours.items() if k.startswith("model.") and v.ndim == 2]
    assert weights
    assert not any(torch.equal(ours[name], theirs[name]) for name in weights)
    assert rows(tmp_path / "other") != rows(trained().folder)


def test_ctrl_c_ends_the_command_with_130_and_a_resumable_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    options = [str(data_file()), *OPTIONS, "--epochs", "12"]
    command = [sys.executable, "-m", "pgode.cli", "train", "-o", str(run), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not (run / "metrics.jsonl").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err.decode()
    assert f"Continue it: pgode train --resume {run}" in err.decode()
    assert b"Traceback" not in err + out
    assert 1 <= len(rows(run)) < 12

    assert run_command(["train", "--resume", str(run)]) == 0
    assert run_command(["train", "-o", str(tmp_path / "whole"), *options]) == 0
    assert_same_run(run, tmp_path / "whole")
    assert "epoch 12/12" in capfd.readouterr().err
