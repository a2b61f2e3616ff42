"""Every command, stopped in the midst of its work or while it starts, ends as promised."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App
from tests.attack.signals.stopping import handles_signals, moments, stopped
from tests.stopped_programs import commanded, commanded_afresh
from tests.trained_runs import OPTIONS, data_file, trained
from tests.training.test_resume import assert_same_run

from pgode.cli.app import app, run_command

OPENING, READING, WRITING = "pgode.runs.run:Run.open", "pgode.data.files:read", "os:fsync"
STAGES = {
    "simulate": ("springs -o {new}.nc --train 2 --val 1 --test 1 --ood 1 --frames 8", WRITING),
    "simulate protein": (
        "-o {new}.nc --sequence YYDP",
        "pgode.data.simulate.protein:from_sequence",
    ),
    "train": ("{data} -o {new} --epochs 1", READING),
    "tune": ("{data} -o {new} --trials 1 --horizon 6 --set window.condition=6", READING),
    "evaluate": ("{run} --json {new}.json --samples 2", "pgode.runs.run:Run.evaluate"),
    "compare": ("{run} {run} --json {new}.json", OPENING),
    "forecast": ("{run} {data} -o {new}.nc --samples 2", WRITING),
    "export": ("{run} -o {new}.onnx", OPENING),
    "report": ("{run} -o {new}.html --examples 1 --samples 2", WRITING),
    "laws": ("{run} --csv {new}.csv", OPENING),
    "info": ("{data}", READING),
    "verify": ("{data}", READING),
    "check": ("{data}", READING),
    "models": ("", "pgode.training.inventory:inventory"),
    "reproduce": ("table1 --budget smoke -o {new}", "pgode.reproduce.reproduction:run_grid"),
    "robustness": ("{run} -o {new}.html", OPENING),
    "convert": ("{run} -o {new}", "pgode.runs.convert:convert_run"),
    "import table": ("{table} -o {new}.nc", WRITING),
    "import wide": ("{table} -o {new}.nc", "pgode.data.files.table.importing:from_table"),
    "import md": ("--trajectory {data} -o {new}.nc --topology {data}", "pgode.data.files.md:read"),
    "import mocap": ("{data} -o {new}.nc", "pgode.data.files.mocap:read"),
    "export-md": ("{data} -o {new}.pdb", "pgode.data.files.md_export:open_forecast_or_data"),
    "data covid": ("-o {new}.nc --source {new}", "pgode.data.files.covid:read_source"),
}
"""By command: its words, and the function at whose call it gets a signal."""


@pytest.fixture
def names(tmp_path: Path) -> dict[str, Path]:
    table = tmp_path / "table.csv"
    rows = [f"{day},{name},{day % 5}" for day in range(20) for name in "ab"]
    table.write_text("time,object,x\n" + "\n".join(rows) + "\n")
    run, new = trained().folder, tmp_path / "new"
    return {"data": data_file(), "run": run, "new": new, "table": table}


@pytest.mark.parametrize("command", STAGES)
def test_a_command_stopped_in_its_work_says_so_and_leaves_nothing(
    command: str, names: dict[str, Path], tmp_path: Path
) -> None:
    words, stage = STAGES[command]
    number = signal.SIGINT if len(command) % 2 else signal.SIGTERM
    given = [*command.split(), *words.format(**names).split()]
    before = sorted(tmp_path.rglob("*"))
    ending = commanded(given, stage, number, tmp_path)
    assert ending.code == 128 + number, ending.said
    assert ending.said.startswith("Stopped") and ending.said.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "said.txt"])


def test_every_command_is_in_the_table() -> None:
    names = {" ".join(name) for name in _commands(app)}
    assert names == STAGES.keys()


@pytest.mark.parametrize(
    "stage, number", [("calibrate", signal.SIGINT), ("write_calibration", signal.SIGTERM)]
)
def test_a_calibration_that_was_stopped_is_made_on_resume(
    stage: str, number: int, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = ["train", str(data_file()), "-o", str(run), *OPTIONS]
    ending = commanded_afresh(words, f"pgode.runs.training:{stage}", number, tmp_path)
    assert ending.code == 128 + number, ending.said
    assert f"Stopped; the run is saved. Continue it: pgode train --resume {run}" in ending.said
    assert "Traceback" not in ending.said and not ending.left
    assert not (run / "calibration.json").exists()
    last = (run / "checkpoints" / "last.safetensors").read_bytes()
    assert run_command(["train", "--resume", str(run)]) == 0
    assert (run / "checkpoints" / "last.safetensors").read_bytes() == last
    assert_same_run(run, trained().folder)


def test_a_signal_in_the_last_validation_is_not_lost(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["train", str(data_file()), "-o", str(run), *OPTIONS]
    stage = "pgode.training.loop:Trainer.gradients"
    ending = commanded_afresh(words, stage, signal.SIGTERM, tmp_path)
    assert ending.code == 143, ending.said
    assert run_command(["train", "--resume", str(run)]) == 0
    assert_same_run(run, trained().folder)


def _commands(group: App, *before: str) -> Iterator[tuple[str, ...]]:
    for name in group:
        if not name.startswith("-"):
            yield from _commands(group[name], *before, name)
    if before and group.default_command is not None:
        yield before


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")


@linux
@pytest.mark.parametrize("number, moment", moments(5, 20, 1.0))
def test_a_signal_while_a_command_starts_is_honoured(
    number: int, moment: float, tmp_path: Path
) -> None:
    words = ["pgode.cli", "info", str(data_file())]
    ending = stopped(words, tmp_path, number, moment)
    assert (ending.outcome in ("clean", "ended first")) or ending.outcome.endswith(" s"), ending


@linux
def test_ctrl_c_ends_all_processes_of_a_training_without_a_traceback(tmp_path: Path) -> None:
    """A terminal sends it to the whole group."""
    run, said = tmp_path / "run", tmp_path / "said"
    words = ["train", str(data_file()), "-o", str(run), "--processes", "2", *OPTIONS]
    with said.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "pgode", *words, "--epochs", "400"],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    while process.poll() is None and not (run / "metrics.jsonl").exists():
        time.sleep(0.01)
    children = _children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(120) == 130, said.read_text()
    assert len(children) == 1
    assert "Traceback" not in said.read_text()
    assert said.read_text().count("Stopped; the run is saved") == 1
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert json.loads((run / "config.json").read_text())["training"]["processes"] == 2


@linux
def test_a_worker_is_stopped_while_it_loads_its_modules(tmp_path: Path) -> None:
    words = ["pgode.runtime.stopping.worker", "pgode.runs.parallel.follower"]
    with subprocess.Popen([sys.executable, "-m", *words], stderr=subprocess.PIPE) as process:
        while not handles_signals(process.pid):
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert b"Traceback" not in said


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in found for child in each.read_text().split()]
