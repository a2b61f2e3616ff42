"""Programs that get a signal at a defined moment, in a process of their own.

The process is a copy of this one, so that it has its imports already: a signal costs a fraction of
a second instead of the seconds that a command takes to start.
"""

import json
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pgode.cli.app import run_command
from pgode.runtime.stopping import command, kept
from pgode.runtime.stopping.command import Charge, take_charge

ROOT = Path(__file__).parents[1]
LIMIT = 300.0
"""Seconds until a program counts as hanging."""


@dataclass(frozen=True)
class Ending:
    """How a program ended."""

    code: int
    said: str
    left: tuple[str, ...] = ()
    """Temporary files in its folder."""
    seconds: float = 0.0
    """From the signal, or from the start if it was not sent from outside."""


def ending_of(
    program: Callable[[Charge], int],
    folder: Path,
    grace: float = 120.0,
    sent: tuple[int, float] | None = None,
) -> Ending:
    """Run a program that is in charge of its signals, in a copy of this process.

    The grace is longer than that of commands: a busy machine must not end what ends by itself.
    `sent` is a signal and the seconds after which a program that is in charge gets it; without it
    the program sends itself one.
    """
    out = folder / "said.txt"
    ready, begun = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Fork beside threads, Python 3.12.
        pid = os.fork()
    if pid == 0:
        os.close(ready)
        _become(program, out, grace, begun)
    os.close(begun)
    os.read(ready, 1)
    os.close(ready)
    began = time.monotonic()
    if sent is not None:
        time.sleep(sent[1])
        began = time.monotonic()
        os.kill(pid, sent[0])
    code = _waited(pid)
    seconds = time.monotonic() - began
    left = tuple(path.name for path in folder.rglob("*") if path.suffix in (".part", ".old"))
    return Ending(code, out.read_text(errors="replace"), left, seconds)


def commanded(words: list[str], stage: str, number: int, folder: Path) -> Ending:
    """The command of these words, which gets a signal when it calls the function named `stage`."""

    def program(charge: Charge) -> int:
        signalled_at(stage, number)
        return run_command(words)

    return ending_of(program, folder)


def commanded_afresh(words: list[str], stage: str, number: int, folder: Path) -> Ending:
    """As `commanded`, for a command that trains.

    Where torch was built for CUDA, a copy of a process that has computed gradients cannot compute
    any, and this process may have. The copy is then one of a new process.
    """
    given = [str(folder), stage, str(int(number)), *words]
    program = [sys.executable, "-m", "tests.stopped_programs", *given]
    told = subprocess.run(program, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=2 * LIMIT)
    described = json.loads(told.stdout)
    return Ending(**{**described, "left": tuple(described["left"])})


def signalled_at(stage: str, number: int) -> None:
    """Send this process a signal each time a function, named "module:name", is called."""
    module, _, name = stage.partition(":")
    owner = __import__(module, fromlist=["_"])
    *outer, name = name.split(".")
    for each in outer:
        owner = getattr(owner, each)
    real = getattr(owner, name)

    def signalled(*values: object, **options: object) -> object:
        os.kill(os.getpid(), number)
        return real(*values, **options)

    setattr(owner, name, signalled)


def _become(program: Callable[[Charge], int], out: Path, grace: float, begun: int) -> None:
    """Run the program and leave, whatever happens."""
    code = 99
    try:
        os.chdir(out.parent)
        stream = os.open(out, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(stream, 1)
        os.dup2(stream, 2)
        sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))  # noqa: SIM115
        for each in command.SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        kept.begin()
        charge = take_charge(grace)
        os.close(begun)
        code = program(charge)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _waited(pid: int) -> int:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGKILL


if __name__ == "__main__":
    place, moment, sent, *command_line = sys.argv[1:]
    print(json.dumps(asdict(commanded(command_line, moment, int(sent), Path(place)))))
