"""Running a command, sending it a signal at some moment, and looking at what is left of it."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "PGODE_TEST_OF_SIGNALS"
"""Environment variable by which processes that belong to a command are known."""
LIMIT = 60.0
"""Seconds after which a command counts as hanging, on a machine however busy."""
PROMISED = 10.0
"""Seconds within which a command is to end."""
LEFT = (".part", ".old")


@dataclass(frozen=True)
class Ending:
    """How a command ended after a signal."""

    code: int
    seconds: float
    said: str
    left: tuple[str, ...]
    """Temporary files, and processes that live on."""
    wanted: int
    """The exit code that goes with the signal."""

    @property
    def outcome(self) -> str:
        """ "clean", "ended first", or what is wrong."""
        return judged(self.code, self.wanted, self.said, self.left, self.seconds)


def judged(code: int, wanted: int, said: str, left: Sequence[str], seconds: float) -> str:
    """ "clean", "ended first", or what is wrong with the way a command ended."""
    if "Traceback" in said or "Exception ignored" in said:
        return "traceback"
    if left:
        return f"left behind: {', '.join(left)}"
    if code == 0:
        return "ended first"
    if code != wanted:
        return f"exit code {code}"
    if "Stopped" not in said:
        return "not a word"
    return f"{seconds:.0f} s" if seconds > PROMISED else "clean"


def stopped(
    words: Sequence[str],
    folder: Path,
    number: int,
    moment: Callable[["subprocess.Popen[bytes]"], bool] | float = 0.0,
    *,
    again: float | None = None,
) -> Ending:
    """Run `python -m words` in a folder, and send it a signal at a moment of its life.

    The moment is a state (it is asked for again and again until it is there), or seconds after the
    command has begun to handle signals. Output goes to files, which no reader has to empty.
    `again` sends a second signal so many seconds after the first.
    """
    heed_signals()
    mark = uuid.uuid4().hex
    environment = {**os.environ, MARK: mark, "COLUMNS": "200"}
    out = folder / f".said-{mark}"
    with out.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    try:
        _until(lambda: process.poll() is not None or handles_signals(process.pid))
        if callable(moment):
            _until(lambda: process.poll() is not None or moment(process))
        else:
            time.sleep(moment)
        began = time.monotonic()
        process.send_signal(number)
        if again is not None:
            time.sleep(again)
            process.send_signal(number)
        code = process.wait(LIMIT)
        seconds = time.monotonic() - began
        left = (*_temporaries(folder), *_processes(mark))
        return Ending(code, seconds, out.read_text(errors="replace"), left, 128 + number)
    finally:
        process.kill()
        process.wait()
        out.unlink()


def heed_signals() -> None:
    """Under nohup, or in the background of a shell, a command inherits that it ignores signals."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def handles_signals(pid: int) -> bool:
    """Whether a process catches SIGTERM, which Python alone does not."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def moments(seed: int, count: int, longest: float) -> list[tuple[int, float]]:
    """Random signals and the seconds after which they are sent; early ones are more frequent."""
    draw = random.Random(seed)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return [
        (draw.choices(numbers, (5, 5, 1))[0], longest * draw.random() ** 1.5) for _ in range(count)
    ]


def _temporaries(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in LEFT]


def _processes(mark: str) -> list[str]:
    """Processes with this mark; one that was killed may take a moment to go."""
    for _ in range(50):
        found = [name for name in _pids() if _has(name, mark)]
        if not found:
            return []
        time.sleep(0.02)
    return [f"process {name}" for name in found]


def _pids() -> list[str]:
    return [entry.name for entry in Path("/proc").glob("[0-9]*")]


def _has(pid: str, mark: str) -> bool:
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _until(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 10 * LIMIT
    while not there():
        assert time.monotonic() < end, "the state did not come about"
        time.sleep(0.002)
