"""What is seen while training: a bar in a terminal, a line per epoch elsewhere."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from tests.trained_runs import settings, trained_in

from pgode.training.checkpoint import Progress
from pgode.training.display import Live


def console(terminal: bool) -> tuple[Console, io.StringIO]:
    text = io.StringIO()
    return Console(file=text, force_terminal=terminal, width=160, color_system=None), text


def test_off_a_terminal_each_epoch_is_one_line(tmp_path: Path) -> None:
    shown, text = console(terminal=False)
    run = trained_in(tmp_path / "run", settings(training_epochs=2), Live(shown))
    assert run is not None
    first, *lines = text.getvalue().splitlines()
    assert first == "training on cpu" and len(lines) == 2
    for number, (line, row) in enumerate(zip(lines, run.epochs, strict=True), 1):
        assert line.startswith(f"epoch {number}/2  train mse {row['train']['mse']:.3e}")
        assert f"val mse {row['val_mse']:.3e}" in line
        assert re.search(r"prototypes \d\.\d/2 differing by \d+%", line)
        assert re.search(r"\d+:\d\d so far, \d+:\d\d left$", line)
    assert "(best)" in lines[0]


def test_a_terminal_shows_terms_validation_error_and_time_left(tmp_path: Path) -> None:
    shown, text = console(terminal=True)
    run = trained_in(tmp_path / "run", settings(training_epochs=2), Live(shown))
    assert run is not None
    words = text.getvalue()
    for part in ("epoch 2/2", "8/8", "reconstruction", "kl", "context_info", "left"):
        assert part in words
    assert f"val {run.epochs[0]['val_mse']:.3e} (best)" in words


@pytest.mark.parametrize("terminal", [True, False])
def test_a_step_that_was_skipped_says_so_and_a_resumed_run_shows_its_error(terminal: bool) -> None:
    shown, text = console(terminal)
    live = Live(shown)
    row = {"epoch": 1, "train": {}, "val_mse": 0.125, "lr": 0.1, "seconds": 3.0}
    with live:
        live.begin(3, 4, Progress(epoch=1, seconds=3.0), [row])
        live.step(Progress(epoch=1, step=1, seconds=4.0), {})
        live.epoch(Progress(epoch=2, seconds=7.0), {**row, "epoch": 2, "seconds": 7.0})
    words = text.getvalue()
    if terminal:
        assert "step skipped: not finite" in words
        assert "val 1.250e-01" in words
    else:
        assert words == ("epoch 2/3  val mse 1.250e-01  0:07 so far, 0:04 left\n")


def test_long_times_are_in_hours() -> None:
    shown, text = console(terminal=False)
    live = Live(shown)
    live.begin(10, 1, Progress(), [])
    row = {"epoch": 1, "train": {"mse": 1.0}, "val_mse": 1.0, "seconds": 4000.0}
    live.epoch(Progress(epoch=1, seconds=4000.0), row)
    assert "1:06:40 so far, 10:00:00 left" in text.getvalue()
