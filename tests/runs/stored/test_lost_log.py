"""A log that cannot be read costs the log, and nothing else."""

import shutil
from pathlib import Path

import pytest
from tests.flips import flips
from tests.trained_runs import springs, trained

from pgode.cli.app import run_command
from pgode.runs.run import Run
from pgode.runs.stored.verification import verify_run
from pgode.runs.training import resume
from pgode.runtime.errors import DamagedLogWarning


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained().folder, tmp_path / "run"))


def test_flipped_bytes_of_the_log_cost_the_log(run: Path) -> None:
    for _ in flips(run / "metrics.jsonl", 20):
        opened = Run.open(run)
        with pytest.warns(DamagedLogWarning, match=r"metrics\.jsonl is not as pgode wrote it"):
            assert opened.epochs == []
    for _ in flips(run / "metrics.csv", 2):
        assert [each.name for each in verify_run(run).files if each.problem] == ["metrics.csv"]


def test_commands_say_it_in_a_line_and_go_on(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "metrics.jsonl").write_text("{")
    assert run_command(["info", str(run)]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("Warning: the log of the training is not used.") == 1
    assert "warn(" not in shown.err
    assert "pgode (preset messages)" in shown.out
    assert run_command(["verify", str(run)]) == 2
    assert "Error: " in capsys.readouterr().err


def test_a_training_goes_on_without_its_log(run: Path) -> None:
    (run / "metrics.jsonl").write_text("{")
    with pytest.warns(DamagedLogWarning):
        again = resume(run, springs())
    assert again.forecast(springs(), samples=0).mean.tolist() == (
        trained().forecast(springs(), samples=0).mean.tolist()
    )
