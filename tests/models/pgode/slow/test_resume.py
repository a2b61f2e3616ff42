"""A stopped run of laws with messages ends with the bits of one that was not."""

import signal
from pathlib import Path

import pytest
import torch
from benchmarks.beyond_pairs import simulated

from pgode.runs.training import TrainingStopped, resume, train
from pgode.training.checkpoint import Progress, read_tensors
from pgode.training.config import run_config
from pgode.training.display import Display

SETTINGS = run_config(
    changes={
        "model.dynamics.messages": True,
        "model.dynamics.prototypes": 2,
        "model.dynamics.substeps": 4,
        "model.dynamics.ensemble": 1,
        "model.walls": "none",
        "model.width": 8,
        "window.condition": 6,
        "window.horizon": 4,
        "training.epochs": 2,
        "training.batch": 2,
        "training.threads": 1,
    }
)


class StopAfter(Display):
    """Interrupts this process after a step of the second epoch."""

    def step(self, progress: Progress, terms: dict[str, float]) -> None:
        if (progress.epoch, progress.step) == (1, 1):
            signal.raise_signal(signal.SIGINT)


def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path) -> None:
    data = simulated("swirl", {"train": 6, "val": 2}, objects=3, frames=16)
    train(data, tmp_path / "whole", SETTINGS)
    with pytest.raises(TrainingStopped):
        train(data, tmp_path / "stopped", SETTINGS, display=StopAfter())
    resume(tmp_path / "stopped", data)
    for name in ("last", "best"):
        ours, expected = (
            read_tensors(tmp_path / run / f"checkpoints/{name}.safetensors")[0]
            for run in ("stopped", "whole")
        )
        assert ours.keys() == expected.keys()
        assert [key for key in ours if not torch.equal(ours[key], expected[key])] == []
    first, second = (
        (tmp_path / run / "calibration.json").read_bytes() for run in ("stopped", "whole")
    )
    assert first == second
