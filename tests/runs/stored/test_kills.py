"""A training that is killed between any two of its files leaves a run that is whole."""

from pathlib import Path

import pytest
from tests.killed import killed_at
from tests.trained_runs import data_file, settings, springs, trained
from tests.training.test_resume import assert_same_run

from pgode.runs.run import Run
from pgode.runs.stored.verification import verify_run
from pgode.runs.training import resume, train
from pgode.runtime.stored.manifest import Manifest

ORDER = (
    *("normaliser.json", "data.json", "manifest.json", "config.json"),
    *("best.safetensors", "metrics.jsonl", "metrics.csv", "last.safetensors"),
)
"""The first files that a training puts in place."""
KILLS = (2, 3, 4, 7, 8)
"""Before the manifest, before the config, then before the first, the last and the second of each
kind of file that training replaces. `make attack` tries all."""


@pytest.mark.parametrize("number", KILLS)
def test_a_killed_training_is_whole_and_ends_with_the_same_bits(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, source = tmp_path / "run", str(data_file())
    with killed_at(number, monkeypatch) as done:
        train(springs(), folder, settings(), source=source)
    assert done[: len(ORDER)] == list(ORDER[: number + 1])
    if (folder / "config.json").exists():
        assert verify_run(folder).problems == []
        run = resume(folder, springs())
    else:
        run = train(springs(), folder, settings(), source=source)
    assert_same_run(run.folder, trained().folder)
    assert Manifest.read(folder) == Manifest.of(folder)


def test_a_kill_in_calibration_leaves_a_run_that_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, source = tmp_path / "run", str(data_file())
    with monkeypatch.context() as patch, killed_at(10**9, monkeypatch) as done:
        patch.setattr("pgode.runs.training.calibrate", lambda run, validation: None)
        train(springs(), folder, settings(), source=source)
    before = len(done)
    with killed_at(1, monkeypatch) as done:
        resume(folder, springs())
    assert done == ["manifest.json", "calibration.json"]
    assert before > len(ORDER)
    assert verify_run(folder).problems == []
    assert Run.open(folder).calibration is None
    assert_same_run(resume(folder, springs()).folder, trained().folder)
