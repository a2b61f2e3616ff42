"""`python -m benchmarks.lost_process`: kill one of two processes at random moments, then resume.

A small run is trained by two processes. In each turn one of them, the leading one or the other, is
killed (SIGKILL) at a random moment after training began; the table says how long it takes until
the other is gone as well, and with which exit code. The run is then resumed to its end and has to
have the bits of a run that nobody disturbed.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import ROOT
from pgode.data import files
from pgode.data.simulate import simulate
from pgode.training.checkpoint import read_tensors

TURNS = 10
LIMIT = 20.0
"""Seconds within which the other process has to end."""
OPTIONS = (
    *("--preset", "messages", "--processes", "2", "--epochs", "12", "--horizon", "12"),
    *("--set", "model.width=16", "--set", "training.batch=8"),
)


def main() -> int:
    """Kill and resume `TURNS` times."""
    random.seed(0)
    table = Table("killed", "at", "the other ended after", "exit code", "resumed to the same bits")
    fine = True
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data.nc"
        files.write(simulate("springs", train=64, val=8, test=0, ood=0), data)
        began = time.monotonic()
        reference = Path(name) / "reference"
        _pgode("train", str(data), "-o", str(reference), *OPTIONS).wait()
        usual = time.monotonic() - began
        for turn in range(TURNS):
            folder = Path(name) / f"run-{turn}"
            moment, leading = random.uniform(0.05, 0.95), turn % 2 == 0
            ended, code = _killed(data, folder, moment * usual, leading)
            _pgode("train", "--resume", str(folder), str(data)).wait()
            same = _same(folder, reference)
            fine &= same and ended < LIMIT
            who = "leading" if leading else "other"
            table.add_row(
                who, f"{moment:.0%}", f"{ended:.1f} s", str(code), "yes" if same else "NO"
            )
    Console().print(table)
    return 0 if fine else 1


def _killed(data: Path, folder: Path, moment: float, leading: bool) -> tuple[float, int | None]:
    """Seconds from the kill until both processes are gone, and the exit code of the leading one."""
    began = time.monotonic()
    process = _pgode("train", str(data), "-o", str(folder), *OPTIONS)
    others: list[int] = []
    while not others or not (folder / "config.json").exists():
        others = _followers(process.pid)
        time.sleep(0.05)
    time.sleep(max(0.0, moment - (time.monotonic() - began)))
    others = _followers(process.pid) or others
    if process.poll() is not None:
        return 0.0, process.returncode  # It was faster than the reference.
    killed = time.monotonic()
    _kill(process.pid if leading else others[0])
    process.wait()
    while any(_alive(each) for each in others):
        time.sleep(0.05)
    return time.monotonic() - killed, process.returncode


def _pgode(*command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "pgode", *command],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _followers(parent: int) -> list[int]:
    try:
        return [
            int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        ]
    except OSError:
        return []


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _same(ours: Path, reference: Path) -> bool:
    tensors = [read_tensors(each / "checkpoints/last.safetensors")[0] for each in (ours, reference)]
    return all(torch.equal(value, tensors[1][name]) for name, value in tensors[0].items())


if __name__ == "__main__":
    sys.exit(main())
